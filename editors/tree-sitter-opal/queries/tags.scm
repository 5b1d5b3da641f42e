(function name: (function_name) @name) @definition.function
(label name: (label_name) @name) @definition.function

(call (decorator) @name) @reference.call
