-- Types in a file as a user does, and fails with the first thing that is not as it should be.
local function check(what, is_so)
  if not is_so then
    io.stderr:write('not so: ' .. what .. '\n')
    vim.cmd('cquit')
  end
end

local function wait(what, is_so)
  check(what, vim.wait(20000, is_so, 20))
end

-- The answer of the server to a request about a place.
local function ask(method, line, column, more)
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  params.position = { line = line, character = column }
  for key, value in pairs(more or {}) do params[key] = value end
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/' .. method, params, 20000)
  for _, answer in pairs(answers or {}) do return answer.result end
end

local function lines() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') end

package.path = vim.env.OPAL_NVIM .. '/?.lua;' .. package.path
require('opal').setup({ cmd = { vim.env.OPAL_BINARY, 'lsp' } })
vim.cmd('edit commands.opl')
check('the file type', vim.bo.filetype == 'opal')
wait('a client is attached', function() return #vim.lsp.get_active_clients() == 1 end)
wait('it has started', function() return vim.lsp.buf_get_clients(0) ~= nil and next(vim.lsp.buf_get_clients(0)) ~= nil end)

-- Nobody asks for them: they are there once the server is.
wait('lenses are shown', function() return #vim.lsp.codelens.get(vim.api.nvim_get_current_buf()) > 0 end)

-- Diagnostics come and go with what is typed.
wait('it answers', function() return ask('hover', 1, 5) ~= nil end)
vim.api.nvim_buf_set_lines(0, 2, 3, false, { '    echo @var.targt' })
wait('a diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
local codes = {}
for _, found in ipairs(vim.diagnostic.get(0)) do codes[found.code or found.user_data.lsp.code] = true end
check('its code', codes['E0401'])
vim.api.nvim_buf_set_lines(0, 2, 3, false, { '    echo @var.target' })
wait('it is gone', function() return #vim.diagnostic.get(0) == 0 end)

local items = ask('completion', 2, 14)
local labels = {}
for _, item in ipairs(items.items or items) do labels[item.label] = true end
check('completion', labels['@var.target'])
check('hover', ask('hover', 2, 16).contents.value:find('target: String', 1, true))
check('definition', ask('definition', 2, 16).range.start.line == 1)

vim.api.nvim_win_set_cursor(0, { 3, 16 })
vim.lsp.buf.rename('place')
wait('rename', function() return lines():find('echo @var.place', 1, true) and lines():find('build(place', 1, true) end)

vim.api.nvim_buf_set_lines(0, 2, 3, false, { 'echo @var.place' })
if vim.lsp.buf.format then vim.lsp.buf.format({ timeout_ms = 20000 }) else vim.lsp.buf.formatting_sync({}, 20000) end
wait('format', function() return lines():find('\n    echo @var.place', 1, true) end)

local lenses = ask('codeLens', 0, 0)
check('lens', lenses[1].command.command == 'opal.plan' and lenses[1].command.arguments[2] == 'build')
-- The lens starts `opal` and shows its plan; the file is saved first, as a user does.
vim.cmd('write')
vim.lsp.commands['opal.plan']({ arguments = { lenses[1].command.arguments[1], 'all' } })
wait('preview', function() return lines():find('echo', 1, true) and not vim.bo.modifiable end)
local preview = vim.api.nvim_get_current_buf()

-- A save makes the plan again. The task has the name of a built-in command.
vim.cmd('wincmd p')
vim.api.nvim_buf_set_lines(0, -1, -1, false, { '', 'fun check() = echo own' })
vim.cmd('write')
vim.lsp.commands['opal.plan']({ arguments = { lenses[1].command.arguments[1], 'check' } })
wait('the plan of a task called as a command', function() return lines():find('echo own', 1, true) end)
local own = vim.api.nvim_get_current_buf()
vim.cmd('wincmd p')
vim.cmd('silent %s/echo own/echo again/')
vim.cmd('write')
local function text(buffer) return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') end
wait('the plan after a save', function()
  return text(own):find('echo again', 1, true) and not text(own):find('echo own', 1, true)
end)
check('the other plan is there', text(preview):find('echo', 1, true))
check('it cannot be changed', not vim.api.nvim_buf_get_option(own, 'modifiable'))
io.stderr:write('all of it\n')
vim.cmd('qall!')
