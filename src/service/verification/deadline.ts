/** The moment by which a call has answered, even if the networks have not. */
export class Deadline {
  readonly at: number

  constructor(ms: number) {
    this.at = performance.now() + ms
  }

  get leftMs(): number {
    return Math.max(0, this.at - performance.now())
  }

  get passed(): boolean {
    return this.leftMs === 0
  }

  /** @throws Late; the pending work is abandoned, so it must be a read, or already recorded */
  async within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DeadlineExceededError()), this.leftMs)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async sleep(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(ms, this.leftMs)))
  }
}

export class DeadlineExceededError extends Error {
  override name = 'Late'
}
