import { appendFile, mkdir, readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** An account as `surfnet_setAccount` takes it; `data` in hex. */
export type AccountState = { lamports: number; owner: string; data: string; executable: boolean }

/** A transaction that landed, in each of the encodings a program may ask for: only the node itself can spell them. */
export type LandedTransaction = {
  signature: string
  slot: number
  /** Unix seconds. */
  blockTime: number
  err: unknown
  memo: string | null
  /** Every address the transaction names. */
  addresses: string[]
  json: unknown
  jsonParsed: unknown
  base64: unknown
}

/** What a transaction did, or an account that was set by hand. `null`: the account is gone. */
export type JournalLine = {
  landed?: LandedTransaction
  accounts: Record<string, AccountState | null>
}

/** Where the chain stood. The next start goes on above it. */
export type Heights = { slot: number; blockHeight: number }

/** What must survive the node, which itself forgets everything: one line of JSON for each thing that happened. */
export class SlotJournal {
  readonly #path: string
  readonly #heightsPath: string
  #last: Promise<void> = Promise.resolve()

  private constructor(dir: string) {
    this.#path = join(dir, 'journal.jsonl')
    this.#heightsPath = join(dir, 'heights.json')
  }

  static async open(
    dir: string,
  ): Promise<{ journal: SlotJournal; lines: JournalLine[]; heights: Heights | undefined }> {
    await mkdir(dir, { recursive: true })
    const journal = new SlotJournal(dir)
    return {
      journal,
      lines: await readLines(journal.#path),
      heights: await readHeights(journal.#heightsPath),
    }
  }

  /** Resolves when the line is with the operating system: a killed process loses nothing after that. */
  append(line: JournalLine): Promise<void> {
    this.#last = this.#last.then(() =>
      appendFile(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 }),
    )
    return this.#last
  }

  async saveHeights(heights: Heights): Promise<void> {
    const draft = `${this.#heightsPath}.new`
    await writeFile(draft, JSON.stringify(heights))
    await rename(draft, this.#heightsPath)
  }
}

async function readHeights(path: string): Promise<Heights | undefined> {
  const bytes = await readOrNothing(path)
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString())
}

async function readOrNothing(path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })
}

async function readLines(path: string): Promise<JournalLine[]> {
  const bytes = await readOrNothing(path)
  // A line that a kill cut short never counted, and the next one must not be glued to it.
  const complete = bytes.lastIndexOf(0x0a) + 1
  if (complete < bytes.length) await truncate(path, complete)
  return bytes
    .subarray(0, complete)
    .toString()
    .split('\n')
    .filter((text) => text !== '')
    .map((text): JournalLine => JSON.parse(text))
}
