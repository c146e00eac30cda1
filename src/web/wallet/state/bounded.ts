/** A wallet call that did not settle in time. Whether the wallet acted is not known. */
export class WalletTimeoutError extends Error {
  override name = 'WalletTimeoutError'
}

/** Waits for a wallet at most `ms`: some never settle their promises. */
export async function bounded<T>(work: PromiseLike<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new WalletTimeoutError(`No answer within ${ms / 1000} s.`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
