/** A pause that a wake or the end of the program cuts short. A wake that comes while nobody sleeps cuts the next pause. */
export class Sleep {
  #end: (() => void) | undefined
  #woken = false

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.end())
  }

  end(): void {
    this.#woken = true
    this.#end?.()
  }

  async for(ms: number): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#end = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#end = undefined
    this.#woken = false
  }
}
