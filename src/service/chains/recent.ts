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

  /** @param maxAgeMs what this reader takes, where that is more than `ttlMs` */
  async fresh(maxAgeMs = this.#ttlMs): Promise<T> {
    if (this.#value && performance.now() - this.#value.readAt < maxAgeMs) return this.#value.value
    this.#reading ??= this.#load().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** The fresh value when it comes at once, else the last one known; never throws. */
  async patient(maxAgeMs?: number): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined
    const last = new Promise<T | undefined>(
      (resolve) => (timer = setTimeout(() => resolve(this.#value?.value), PATIENCE_MS)),
    )
    try {
      return await Promise.race([this.fresh(maxAgeMs).catch(() => this.#value?.value), last])
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

/** Results by key that are read in the background, one key after another. A caller waits for none: it sees the last result, and when it is due again. */
export class BackgroundReads<T> {
  readonly #ttlMs: number
  readonly #limit: number
  readonly #entries = new Map<string, { value: T | undefined; until: number }>()
  readonly #queues = new Map<string, Promise<void>>()
  #closed = false

  /** `ttlMs`: how long a result, or a failure, counts. `limit`: most keys; while all of them count, no other is read. */
  constructor(ttlMs: number, limit: number) {
    this.#ttlMs = ttlMs
    this.#limit = limit
  }

  /** Undefined: due. `value` is undefined while it is being read, and where that failed. */
  last(key: string): { value: T | undefined } | undefined {
    const entry = this.#entries.get(key)
    return entry && performance.now() < entry.until ? entry : undefined
  }

  set(key: string, value: T | undefined): void {
    this.#put(key, { value, until: performance.now() + this.#ttlMs })
  }

  /** Reads it once what the same queue has begun before is over. */
  start(key: string, queue: string, read: () => Promise<T>): void {
    if (!this.#put(key, { value: undefined, until: Infinity })) return
    const before = this.#queues.get(queue) ?? Promise.resolve()
    this.#queues.set(
      queue,
      before.then(async () => {
        if (this.#closed) return
        this.set(key, await read().catch(() => undefined))
      }),
    )
  }

  close(): void {
    this.#closed = true
  }

  #put(key: string, entry: { value: T | undefined; until: number }): boolean {
    if (this.#entries.size >= this.#limit && !this.#entries.has(key)) {
      const now = performance.now()
      for (const [other, { until }] of this.#entries) if (until <= now) this.#entries.delete(other)
      if (this.#entries.size >= this.#limit) return false
    }
    this.#entries.set(key, entry)
    return true
  }
}
