variable "label" {
  type = string
}

# Built into the tool: nothing is downloaded. Put your own resources here.
resource "terraform_data" "greeting" {
  input = "hello, ${var.label}"
}

output "greeting" {
  value = terraform_data.greeting.output
}
