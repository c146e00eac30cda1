import { accountCommands } from './account-commands.ts'
import { backupCommands } from './backup-command.ts'
import { UsageError, type ClosedCommand, type Command, type CommandLine } from './command-line.ts'
import { keyCommands } from './key-commands.ts'
import { ownerCommands } from './owner-commands.ts'
import { paymentCommands } from './payment-commands.ts'
import { restoreCommands } from './restore-command.ts'
import { walletCommands } from './wallet-commands.ts'

const commands: Readonly<Record<string, Command | ClosedCommand>> = {
  ...accountCommands,
  ...keyCommands,
  ...walletCommands,
  ...ownerCommands,
  ...paymentCommands,
  ...backupCommands,
  ...restoreCommands,
}

/** @throws UsageError for an unknown command or an option that is not its own */
export function findCommand({ command, values }: CommandLine): Command | ClosedCommand {
  const found = Object.entries(commands).find(([name]) => name === command)?.[1]
  if (!found)
    throw new UsageError(
      `${command ? `There is no command "${command}"` : 'A command is missing'}. Expected one of: ${Object.keys(commands).join(', ')}.`,
    )
  for (const option of Object.keys(values)) {
    if (option === 'json' || found.options.some((own) => own === option)) continue
    const own = found.options.map((known) => `--${known}`).join(', ')
    throw new UsageError(`${command} takes no --${option}. It takes ${own || 'none but --json'}.`)
  }
  return found
}
