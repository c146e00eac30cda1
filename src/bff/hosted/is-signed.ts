import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { intentText, intentTypedData, type HostedIntent } from '#contract/hosted-intent.ts'
import { familyOf } from '#contract/network.ts'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/verify-signature.ts'

/** Whether `signer` itself signed exactly this payment. */
export function isIntentSigned(signer: string, intent: HostedIntent, signature: string): boolean {
  return familyOf(intent.network) === 'evm'
    ? isHashSignedByEvm(signer, intentHash(intent), signature)
    : isSignedBySolana(signer, intentText(intent), signature)
}

/** EIP-712 over a flat struct of addresses, numbers and texts. */
export function intentHash(intent: HostedIntent): Uint8Array {
  const { domain, types, message } = intentTypedData(intent)
  const fields = types.HostedPayment
  const domainFields = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
  ] as const
  const separator = structHash('EIP712Domain', domainFields, {
    ...domain,
    chainId: String(domain.chainId),
  })
  return keccak_256(
    concatBytes(Uint8Array.of(0x19, 0x01), separator, structHash('HostedPayment', fields, message)),
  )
}

type Field = { name: string; type: 'address' | 'uint256' | 'string' }

function structHash(
  name: string,
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): Uint8Array {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
  return keccak_256(
    concatBytes(
      keccak_256(utf8ToBytes(type)),
      ...fields.map((field) => word(field, values[field.name] ?? '')),
    ),
  )
}

function word({ type }: Field, value: string): Uint8Array {
  if (type === 'string') return keccak_256(utf8ToBytes(value))
  const hex = type === 'address' ? value.slice(2).toLowerCase() : BigInt(value).toString(16)
  return hexToBytes(hex.padStart(64, '0'))
}
