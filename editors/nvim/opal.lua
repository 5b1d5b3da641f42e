-- Neovim for opal: file type, language server, lenses. Copy it to `lua/opal.lua` of your configuration
-- and call `require('opal').setup()`. It needs Neovim 0.7 or newer and `opal` on the PATH.
local M = {}

-- The words that do something with a task. A task of another file than commands.opl needs its name.
local function words(uri, before, task, after)
  local file = vim.uri_to_fname(uri)
  local all = { 'opal', '-f', file }
  vim.list_extend(all, before)
  table.insert(all, task)
  return vim.list_extend(all, after)
end

-- Shows the plan of a task in a buffer that nobody can change, and makes it again after each save. Nothing
-- runs: `run` before the name means the task, whatever built-in command has its name.
local function plan(command)
  local line = words(command.arguments[1], { 'run', '--dry-run' }, command.arguments[2], {})
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo.buftype, vim.bo.bufhidden = 'nofile', 'wipe'
  local function show()
    -- Gone: the command that calls this goes too.
    if not vim.api.nvim_buf_is_valid(buffer) then return true end
    local lines = vim.fn.systemlist(line)
    vim.api.nvim_buf_set_option(buffer, 'modifiable', true)
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
    vim.api.nvim_buf_set_option(buffer, 'modifiable', false)
  end
  show()
  vim.api.nvim_create_autocmd('BufWritePost', { pattern = '*.opl', callback = show })
end

-- Opens a terminal with a command line, which waits for the user where the task asks something.
local function terminal(before)
  return function(command)
    vim.cmd('botright new')
    vim.fn.termopen(words(command.arguments[1], before, command.arguments[2], {}))
  end
end

-- Whether a server answers for the buffer. Neovim 0.7 never asks for lenses again after it asked nobody.
local function is_attached()
  if vim.lsp.get_clients then return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end
  return next(vim.lsp.buf_get_clients(0)) ~= nil
end

local function show_lenses()
  if is_attached() then pcall(vim.lsp.codelens.refresh) end
end

function M.setup(options)
  local config = vim.tbl_extend('force', {
    name = 'opal',
    cmd = { 'opal', 'lsp' },
    init_options = { commands = { 'opal.plan', 'opal.run', 'opal.verify' } },
  }, options or {})
  local on_attach = config.on_attach
  config.on_attach = function(client, buffer)
    if on_attach then on_attach(client, buffer) end
    vim.api.nvim_buf_call(buffer, show_lenses)
  end
  vim.lsp.commands['opal.plan'] = plan
  vim.lsp.commands['opal.run'] = terminal({ 'run' })
  vim.lsp.commands['opal.verify'] = terminal({ 'verify' })
  local group = vim.api.nvim_create_augroup('opal', {})
  local function on(events, pattern, callback)
    vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = callback })
  end
  on({ 'BufRead', 'BufNewFile' }, '*.opl', function() vim.bo.filetype = 'opal' end)
  if vim.lsp.config then
    config.filetypes, config.root_markers = { 'opal' }, { 'opal.mod', '.git' }
    vim.lsp.config('opal', config)
    vim.lsp.enable('opal')
  else
    local clients = {}
    on('FileType', 'opal', function(event)
      local top = vim.fn.finddir('.git', vim.fn.expand('<afile>:p:h') .. ';')
      local root = top ~= '' and vim.fn.fnamemodify(top, ':p:h:h') or vim.fn.expand('<afile>:p:h')
      clients[root] = clients[root]
        or vim.lsp.start_client(vim.tbl_extend('force', config, { root_dir = root }))
      vim.lsp.buf_attach_client(event.buf, clients[root])
    end)
  end
  on({ 'BufEnter', 'InsertLeave', 'BufWritePost' }, '*.opl', show_lenses)
end

return M
