/** What a test tells a wallet to do at its next approval. */
export type WalletApproval = 'approve' | 'reject' | 'hang'

/** A wallet's answer as the page script gets it: plain data, because functions and errors do not cross into the page. */
export type WalletReply =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }

export class WalletError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const userRejected = () => new WalletError(4001, 'User rejected the request.')

/** Waits for what the test decided: returns on approval, throws on rejection, never settles when the wallet is left open. */
export async function decide(approval: WalletApproval): Promise<void> {
  if (approval === 'reject') throw userRejected()
  if (approval === 'hang') await new Promise<never>(() => {})
}

export async function toReply(work: () => Promise<unknown>): Promise<WalletReply> {
  try {
    return { result: (await work()) ?? null }
  } catch (error) {
    if (error instanceof WalletError)
      return { error: { code: error.code, message: error.message, data: error.data } }
    return {
      error: { code: -32603, message: error instanceof Error ? error.message : String(error) },
    }
  }
}
