-- Neovim for opal: file type, language server, lenses. Copy it to `lua/opal.lua` of your configuration
-- and call `require('opal').setup()`. It needs Neovim 0.7 or newer and `opal` on the PATH.
local M = {}

-- The program that `cmd` of the options names, which lenses start too.
local program = 'opal'

-- The words that do something with a task. A task of another file than commands.opl needs its name.
local function words(uri, before, task, after)
  local file = vim.uri_to_fname(uri)
  local all = { program, '-f', file }
  vim.list_extend(all, before)
  table.insert(all, task)
  return vim.list_extend(all, after)
end

-- Lines without the empty ones at their end.
local function trimmed(lines)
  while #lines > 0 and lines[#lines] == '' do table.remove(lines) end
  return lines
end

-- Shows the plan of a task in a buffer that nobody can change, and makes it again after each save. Nothing
-- runs: `run` before the name means the task, whatever built-in command has its name.
local function plan(command)
  local line = words(command.arguments[1], { 'run', '--dry-run' }, command.arguments[2], {})
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo.buftype, vim.bo.bufhidden = 'nofile', 'wipe'
  local job, latest = 0, 0
  local function write(number, lines)
    -- A later save has started another one, or the buffer is gone.
    if number ~= latest or not vim.api.nvim_buf_is_valid(buffer) then return end
    vim.api.nvim_buf_set_option(buffer, 'modifiable', true)
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
    vim.api.nvim_buf_set_option(buffer, 'modifiable', false)
  end
  local function show()
    if job > 0 then vim.fn.jobstop(job) end
    latest, job = latest + 1, 0
    -- Gone: the command that calls this goes too.
    if not vim.api.nvim_buf_is_valid(buffer) then return true end
    local number, out, errors = latest, {}, {}
    local started
    started, job = pcall(vim.fn.jobstart, line, {
      stdin = 'null',
      stdout_buffered = true,
      stderr_buffered = true,
      on_stdout = function(_, data) out = data end,
      on_stderr = function(_, data) errors = data end,
      on_exit = function()
        write(number, vim.list_extend(trimmed(out), trimmed(errors)))
      end,
    })
    if not started then
      job = 0
      write(number, { program .. ' cannot be started: give setup() a `cmd` with the path of opal' })
    end
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
  if type(config.cmd) == 'table' then program = config.cmd[1] end
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
