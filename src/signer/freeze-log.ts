import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { giveToOwner } from './policy.ts'
import { dropTornLine } from './spend-log.ts'

/** One line for each command that froze or unfroze. `wallet` is null for all wallets. */
const Line = v.object({
  at: v.pipe(v.string(), v.isoTimestamp()),
  command: v.picklist(['freeze', 'unfreeze']),
  wallet: v.nullable(v.string()),
  user: v.string(),
  sudoUser: v.optional(v.string()),
})
export type FreezeLine = v.InferOutput<typeof Line>

const FILE = 'freezes.jsonl'

/** On the disk when it returns. */
export function appendFreeze(
  folder: string,
  { command, wallet, sudoUser }: Pick<FreezeLine, 'command' | 'wallet' | 'sudoUser'>,
): FreezeLine {
  const file = join(folder, FILE)
  dropTornLine(file)
  const at = new Date().toISOString()
  const line = { at, command, wallet, user: userName(), ...(sudoUser && { sudoUser }) }
  writeFileSync(file, `${JSON.stringify(line)}\n`, { flag: 'a', mode: 0o600, flush: true })
  giveToOwner(folder, file)
  return line
}

/** The line that began each freeze that has not ended since, by wallet. A line that cannot be read tells nothing. */
export function readFreezes(folder: string): Map<string | null, FreezeLine> {
  const file = join(folder, FILE)
  const began = new Map<string | null, FreezeLine>()
  for (const text of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const line = v.safeParse(v.pipe(v.string(), v.parseJson(), Line), text)
    if (!line.success) continue
    const { command, wallet } = line.output
    if (command === 'freeze' && !began.has(wallet)) began.set(wallet, line.output)
    if (command === 'unfreeze' && wallet === null) began.clear()
    else if (command === 'unfreeze') began.delete(wallet)
  }
  return began
}

/** The user of a container may have a number and no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
