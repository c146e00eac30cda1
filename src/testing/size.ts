import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

/**
 * `npm run size`: builds the web app in memory and says, for every page, how much JavaScript, in how many files, a browser needs before that page works when it is
 * the first one opened; and what the pay button costs the page of a shop. Exits with 1 when a bar is passed, or when wallet code is part of any first load.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Bytes after gzip, and files: what was reached, so that it does not grow. */
const BARS: Readonly<Record<string, { bytes: number; files: number }>> = {
  shell: { bytes: 110_000, files: 1 },
  OverviewPage: { bytes: 110_200, files: 3 },
  CheckoutPage: { bytes: 166_000, files: 11 },
  PayLinkPage: { bytes: 177_000, files: 14 },
}
/** The largest are those that decode transactions of both chains. */
const OTHER_BAR = { bytes: 225_000, files: 21 }
/** Shops load it on pages of their own, whatever else those hold; it is sent as it is in the repository. */
const BUTTON = { file: 'public/button.js', bar: 6_000 }

/** Connecting, asking and signing. Decoding what will be signed belongs to the review and is not among them. */
const WALLET_CODE =
  /node_modules\/(wagmi|@wagmi|@walletconnect|@wallet-standard|@solana\/wallet|@solana\/web3\.js|mipd|porto)|src\/web\/wallet\/(evm|solana)\//

type Chunk = Rolldown.OutputChunk

const chunks = await buildChunks()
const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
// src/web/build/page-chunks.ts puts all that a first visit needs into one chunk; the bundler calls it the entry only where nothing else imports from it.
const entry =
  chunks.find((chunk) => chunk.isEntry) ?? chunks.find((chunk) => chunk.name === 'shell')
if (!entry) throw new Error('The build has no entry.')

let failed = false
const shell = closure(entry)
report('shell', shell)
const pages = chunks.filter(
  ({ facadeModuleId }) =>
    facadeModuleId && /\/src\/web\/pages\/[^/]+\/\w+Page\.tsx$/.test(facadeModuleId),
)
for (const page of pages.toSorted((a, b) => a.name.localeCompare(b.name)))
  report(page.name, new Set([...shell, ...closure(page)]))
reportButton()
process.exitCode = failed ? 1 : 0

function report(name: string, loaded: ReadonlySet<Chunk>): void {
  const size = [...loaded].reduce(
    (sum, chunk) => sum + gzipSync(chunk.code, { level: 9 }).length,
    0,
  )
  const bar = BARS[name] ?? OTHER_BAR
  const wallet = [...loaded]
    .flatMap((chunk) => Object.keys(chunk.modules))
    .find((id) => WALLET_CODE.test(id))
  console.log(
    `${name}: ${(size / 1000).toFixed(3)} kB (${bar.bytes / 1000} kB), ${loaded.size} files (${bar.files})${wallet ? `, holds wallet code: ${wallet.replace(ROOT, '')}` : ''}`,
  )
  if (size > bar.bytes || loaded.size > bar.files || wallet) failed = true
}

function reportButton(): void {
  const size = gzipSync(readFileSync(join(ROOT, BUTTON.file)), { level: 9 }).length
  console.log(`${BUTTON.file}: ${(size / 1000).toFixed(3)} kB (${BUTTON.bar / 1000} kB)`)
  if (size > BUTTON.bar) failed = true
}

/** A chunk and everything it imports statically. */
function closure(start: Chunk, seen: Set<Chunk> = new Set()): Set<Chunk> {
  if (seen.has(start)) return seen
  seen.add(start)
  for (const file of start.imports) {
    const chunk = byFile.get(file)
    if (chunk) closure(chunk, seen)
  }
  return seen
}

async function buildChunks(): Promise<Chunk[]> {
  const output = await build({ root: ROOT, logLevel: 'warn', build: { write: false } })
  if (!('output' in output)) throw new Error('The build gave no single output.')
  return output.output.filter((file): file is Chunk => file.type === 'chunk')
}
