(function
  "fun" @context
  name: (function_name) @name) @item

(label
  name: (label_name) @name) @item
