import { concat, encodeAbiParameters, toHex, type Hex } from 'viem'
import { ANSWERS, contractClient, deployCode, deploySafe, safePayer } from '../contract-payers.ts'
import type { EvmFixture } from '../local-chains.ts'
import type { Rng } from '../tamper/rng.ts'
import { payInvoice, type deployTokens } from '../token-payers.ts'
import type { Requirements } from '#x402/requirements.ts'

/** Payers that are no plain keys, for the grammar: EIP-1271 contracts, Safes, delegated accounts (EIP-7702) and accounts that are not deployed (EIP-6492). */

const LAST_BYTES = [0, 1, 2, 26, 27, 28, 29, 31, 32, 35, 255]
const LENGTHS = [0, 1, 64, 66, 130, 195, 1_500]
const MAGIC = `0x${'6492'.repeat(16)}` as const

export type ProofPool = {
  addresses: string[]
  /** An x402 header with a signature that `rng` chooses, and the terms that it meets. */
  header: (rng: Rng) => Promise<{ header: string; requirements: Requirements }>
}

export async function openProofPool(
  evm: EvmFixture,
  { usdc, weth, fund }: Awaited<ReturnType<typeof deployTokens>>,
  payee: string,
): Promise<ProofPool> {
  const safe = await deploySafe(evm, { owners: 2, threshold: 1 })
  const owner = await evm.wallet(10n ** 18n)
  const delegate = await deployCode(evm, () => ANSWERS.valid)
  const contracts: Hex[] = []
  for (const code of Object.values(ANSWERS)) contracts.push(await deployCode(evm, () => code))
  // A key whose account runs a contract's code.
  contracts.push(await deployCode(evm, () => concat(['0xef0100', delegate])))
  const undeployed = toHex(new Uint8Array(20).fill(0x77))
  const payers = [...contracts, safe.address, owner.address, undeployed]
  for (const payer of payers) await fund(payer)

  const random = (rng: Rng, length: number) => toHex(rng.bytes(length))
  const signature = async (rng: Rng, hash: Hex): Promise<Hex> => {
    switch (rng.below(6)) {
      case 0:
        return random(rng, LENGTHS[rng.below(LENGTHS.length)] ?? 65)
      case 1:
        return owner.sign({ hash })
      case 2:
        return safePayer(safe, rng.below(2) === 0 ? 'typed' : 'eth_sign').sign(hash)
      case 3: {
        const factory = payers[rng.below(payers.length)] ?? safe.address
        const wrapped = encodeAbiParameters(
          [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
          [factory, random(rng, rng.below(40)), random(rng, 65)],
        )
        return concat([wrapped, MAGIC])
      }
      default:
        return concat([
          random(rng, 64),
          toHex(LAST_BYTES[rng.below(LAST_BYTES.length)] ?? 27, { size: 1 }),
        ])
    }
  }

  return {
    addresses: payers,
    async header(rng) {
      const method = rng.below(2) === 0 ? 'eip3009' : 'permit2'
      const address = payers[rng.below(payers.length)] ?? safe.address
      const requirements: Requirements = {
        scheme: 'exact',
        network: evm.network.network,
        amount: '10000000000000000',
        asset: (method === 'eip3009' ? usdc : weth).address,
        payTo: payee,
        maxTimeoutSeconds: 60,
        extra: {
          assetTransferMethod: method,
          ...(method === 'eip3009' && { name: 'USD Coin', version: '2' }),
        },
      }
      const payer = { address, sign: (hash: Hex) => signature(rng, hash) }
      const header = await payInvoice(contractClient(evm, payer), requirements)
      return { header, requirements }
    },
  }
}
