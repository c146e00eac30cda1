/**
 * The key that wraps the data keys of managed wallets. It never leaves its keeper: a file of this machine, or a key management service.
 * What is wrapped is bound to its `context` and cannot be unwrapped under another one.
 */
export interface KeyVault {
  /** Names the key, so that a wallet tells which one wraps it. */
  readonly keyId: string
  wrap(dataKey: Uint8Array, context: string): Promise<Uint8Array>
  /** @throws Error when the bytes, the context or the key are not those of the wrapping */
  unwrap(wrapped: Uint8Array, context: string): Promise<Uint8Array>
}
