import { encodeAuthorization } from '#chains/evm/token-authorization.ts'
import { encodePermit } from '#chains/evm/token-permit.ts'
import { chainIdOf } from '#contract/network.ts'
import type { Body } from './facts.ts'
import type { Expected } from './local-checks.ts'
import { permitOf } from './recover.ts'

type Message = Extract<Body, { kind: 'authorization' | 'permit' }>

/** What a payer signed as a message, in the bytes by which its use is looked for. The token's own name takes no part in finding it. */
export function messageBytes(
  body: Message,
  expected: Pick<Expected, 'network' | 'asset'>,
): Uint8Array {
  if (body.kind === 'permit') return encodePermit(permitOf(body.proof, expected))
  const { network, asset } = expected
  const domain = {
    name: '',
    version: '',
    chainId: chainIdOf(network.network),
    verifyingContract: asset.address as `0x${string}`,
  }
  return encodeAuthorization({ domain, message: body.proof.authorization })
}
