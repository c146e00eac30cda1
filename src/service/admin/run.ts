import { accountCommands } from './account-commands.ts'
import { UsageError, type Command, type CommandLine, type Commands } from './command-line.ts'
import { keyCommands } from './key-commands.ts'
import { ownerCommands } from './owner-commands.ts'
import { paymentCommands } from './payment-commands.ts'
import { walletCommands } from './wallet-commands.ts'

const commands: Commands = {
  ...accountCommands,
  ...keyCommands,
  ...walletCommands,
  ...ownerCommands,
  ...paymentCommands,
}

/** @throws UsageError for an unknown command or an option that is not its own */
export function findCommand({ command, values }: CommandLine): Command {
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
