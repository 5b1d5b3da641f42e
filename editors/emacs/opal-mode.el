;;; opal-mode.el --- Opal sources -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, comments and indentation for .opl files.  With eglot, `opal lsp' adds the rest.

;;; Code:

(defvar eglot-server-programs)

(defconst opal-mode-words
  '(
    ;; words
    "as"
    "catch"
    "else"
    "false"
    "finally"
    "for"
    "fun"
    "if"
    "import"
    "import?"
    "in"
    "let"
    "null"
    "true"
    "try"
    "var"
    "when"
    "while"
    "String"
    "Int"
    "Float"
    "Bool"
    "Duration"
    "Array"
    "Map"
    ;; end of words
    )
  "Keywords and types; `cargo xtask editors' writes them.")

(defvar opal-mode-font-lock
  `(("^[ \t]*\\(fun\\)[ \t]+\\([A-Za-z_][A-Za-z0-9_.-]*\\)"
     (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    ("^\\([A-Za-z_][A-Za-z0-9_-]*\\):\\(?:[ \t{]\\|$\\)" 1 font-lock-function-name-face)
    ("@[A-Za-z_][A-Za-z0-9_]*\\(?:\\.[A-Za-z_][A-Za-z0-9_-]*\\)*" 0 font-lock-variable-name-face prepend)
    ("\\(?:^[ \t]*\\|[{}>][ \t]*\\|[ \t]\\)\\(let\\)\\." 1 font-lock-keyword-face)
    (,(concat "\\(?:^[ \t]*\\|[{}>][ \t]+\\|else \\)" (regexp-opt opal-mode-words t) "\\(?:[ \t({]\\|$\\)")
     1 font-lock-keyword-face)
    (,(concat ":[ \t]*" (regexp-opt opal-mode-words t) "\\_>") 1 font-lock-type-face)
    ("\\_<\\(?:true\\|false\\|null\\)\\_>" . font-lock-constant-face))
  "What `opal-mode' colours.")

(defconst opal-mode-propertize
  (syntax-propertize-rules
   ;; `#' and `//' begin a comment only where a word could begin.
   ("\\(?:^\\|[ \t;({]\\)\\(#\\)" (1 "<"))
   ("\\(?:^\\|[ \t]\\)\\(/\\)/\\(?:[ \t\n]\\|[^ \t\n]\\)" (1 (unless (opal-mode-is-label) (string-to-syntax "<")))))
  "Where comments begin.")

(defun opal-mode-is-label ()
  "Whether the `//' that was found is text, such as a label of Bazel."
  (let ((after (char-after (+ 2 (match-beginning 1)))))
    (and after
         (not (memq after '(?\s ?\t ?\n)))
         (save-excursion
           (goto-char (match-beginning 1))
           (skip-chars-backward " \t")
           (not (or (bolp) (memq (char-before) '(?{ ?} ?\)))))))))

(defun opal-mode-indent-line ()
  "Indent the line by the brackets that are open before it."
  (interactive)
  (let* ((depth (save-excursion
                  (back-to-indentation)
                  (let ((open (car (syntax-ppss))))
                    (if (looking-at "[])}]") (1- open) open))))
         (offset (- (current-column) (current-indentation))))
    (unless (nth 8 (syntax-ppss (line-beginning-position)))
      (indent-line-to (* 4 (max 0 depth)))
      (when (> offset 0) (forward-char offset)))))

;;;###autoload
(define-derived-mode opal-mode prog-mode "Opal"
  "Major mode for opal sources."
  (dolist (pair '((?\n . ">") (?\" . "\"") (?' . "\"") (?@ . "'") (?\\ . "\\") (?_ . "_") (?- . "_")))
    (modify-syntax-entry (car pair) (cdr pair)))
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "\\(?:#\\|//\\)+[ \t]*")
  (setq-local syntax-propertize-function opal-mode-propertize)
  (setq-local font-lock-defaults '(opal-mode-font-lock))
  (setq-local indent-line-function #'opal-mode-indent-line))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.opl\\'" . opal-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(opal-mode "opal" "lsp")))

(provide 'opal-mode)
;;; opal-mode.el ends here
