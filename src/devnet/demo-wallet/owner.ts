/** The error of a request to a wallet, with a code of EIP-1193 or JSON-RPC. */
export class ProviderError extends Error {
  override name = 'ProviderRpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** With the message and code of real wallets. */
export function userRejected(): ProviderError {
  return new ProviderError(4001, 'User rejected the request.')
}

/** Who decides for a wallet: a person who reads the approval dialog, or a test. */
export type WalletOwner<Account, Request> = {
  /** The account that the page is connected to. */
  account(): Promise<Account | undefined>
  /** Connects the page to an account. @throws ProviderError 4001 when the owner refuses */
  connect(): Promise<Account>
  disconnect(): void
  /** Allows one signature. @throws ProviderError 4001 when the owner refuses */
  approve(request: Request, account: Account): Promise<void>
}
