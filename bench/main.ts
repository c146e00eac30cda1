import { spawn } from 'node:child_process'
import { argv, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'

/**
 * `npm run bench`: every bench that compares with a peer or with the cost model, one after the other,
 * each in a separate process. `-- --quick`: few rounds, about three minutes. Ends with 2 where a
 * figure has grown above the one reached before, and with 1 below a bar only with `--strict`.
 */

const QUICK = ['sig', 'sql', 'http', 'bff', 'verify', 'send', 'rpc'] as const
const LONG = [...QUICK, 'settle', 'writes', 'history', 'growth', 'web', 'start'] as const

const options = argv.slice(2)
let failed = 0
let grown = 0
for (const name of options.includes('--quick') ? QUICK : LONG) {
  const main = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const child = spawn(execPath, [main, ...options], { stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  // A bench that measures what is not met yet ends with 1 by itself where it is older than these.
  if (code === 2) grown++
  else if (code !== 0) failed++
}
process.exitCode = grown > 0 ? 2 : failed > 0 && options.includes('--strict') ? 1 : 0
