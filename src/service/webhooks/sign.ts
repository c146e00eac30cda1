import type { SealedKey, Signer } from '#signer/protocol.ts'

/**
 * The headers of a message under the scheme of Standard Webhooks: one signature for each secret that is valid, so that a receiver may have either.
 * Secrets stay in the signer.
 */
export async function signMessage(
  signer: Pick<Signer, 'mac'>,
  keys: readonly SealedKey[],
  { id, at, body }: { id: string; at: Date; body: string },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const message = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const macs = await Promise.all(keys.map((key) => signer.mac({ key, message })))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': macs.map((mac) => `v1,${Buffer.from(mac).toString('base64')}`).join(' '),
  }
}
