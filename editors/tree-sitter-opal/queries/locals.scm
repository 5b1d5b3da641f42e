[
  (source_file)
  (function)
  (block)
] @local.scope

(function name: (function_name) @local.definition.function)
(label name: (label_name) @local.definition.function)
(parameter name: (identifier) @local.definition.parameter)
(variable name: (identifier) @local.definition.var)
(binding name: (identifier) @local.definition.var)
(for variable: (identifier) @local.definition.var)
(let name: (identifier) @local.definition.var)
(import namespace: (identifier) @local.definition.namespace)

(identifier) @local.reference
