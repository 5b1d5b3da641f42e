; Text of a step is read by bash, with the references in it, which are words to bash.
((shell) @injection.content
  (#set! injection.language "bash")
  (#set! injection.include-children))

; The text of `@script("python3")` is read by what its first argument names.
((call
  (decorator) @_decorator
  (arguments (argument (string (text) @injection.language)))
  (text_block (block_text) @injection.content))
  (#eq? @_decorator "@script"))

((call
  (decorator) @_decorator
  (text_block (block_text) @injection.content))
  (#any-of? @_decorator "@psql" "@mysql" "@sqlite")
  (#set! injection.language "sql"))
