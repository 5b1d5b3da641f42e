[
  (block)
  (text_block)
  (parameters)
  (arguments)
  (array)
  (map)
  (variable_group)
  (string)
  (comment)
] @fold
