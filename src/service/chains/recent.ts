/** Longest wait of a reader who can do without the newest value, in milliseconds. */
const PATIENCE_MS = 300

/** A value that is read again when it is older than `ttlMs`; readers of the same moment share one reading. */
export class Recent<T> {
  readonly #ttlMs: number
  readonly #read: () => Promise<T>
  #value: { value: T; readAt: number } | undefined
  #reading: Promise<T> | undefined

  constructor(ttlMs: number, read: () => Promise<T>) {
    this.#ttlMs = ttlMs
    this.#read = read
  }

  async fresh(): Promise<T> {
    if (this.#value && performance.now() - this.#value.readAt < this.#ttlMs)
      return this.#value.value
    this.#reading ??= this.#load().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** The fresh value when it comes at once, else the last one known; never throws. */
  async patient(): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined
    const last = new Promise<T | undefined>(
      (resolve) => (timer = setTimeout(() => resolve(this.#value?.value), PATIENCE_MS)),
    )
    try {
      return await Promise.race([this.fresh().catch(() => this.#value?.value), last])
    } finally {
      clearTimeout(timer)
    }
  }

  async #load(): Promise<T> {
    const value = await this.#read()
    this.#value = { value, readAt: performance.now() }
    return value
  }
}

/** Answers by key, each kept for `ttlMs`; a failure is not kept. Holds at most 1,000 keys, the oldest goes first. */
export function remember<T>(
  ttlMs: number,
  load: (key: string) => Promise<T>,
): (key: string) => Promise<T> {
  const known = new Map<string, { readAt: number; answer: Promise<T> }>()
  return (key) => {
    const entry = known.get(key)
    if (entry && performance.now() - entry.readAt < ttlMs) return entry.answer
    const answer = load(key)
    answer.catch(() => known.delete(key))
    known.delete(key)
    known.set(key, { readAt: performance.now(), answer })
    const oldest = known.keys().next()
    if (known.size > 1_000 && !oldest.done) known.delete(oldest.value)
    return answer
  }
}
