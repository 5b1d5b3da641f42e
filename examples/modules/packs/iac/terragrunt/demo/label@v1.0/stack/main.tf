variable "name" {
  type = string
}

variable "environment" {
  type = string
}

variable "separator" {
  type = string
}

# Built into the tool: there is nothing to download.
resource "terraform_data" "label" {
  input = join(var.separator, [var.name, var.environment])
}

output "label" {
  value = terraform_data.label.output
}
