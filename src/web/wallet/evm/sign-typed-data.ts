import {
  getTypesForEIP712Domain,
  serializeTypedData,
  type EIP1193Provider,
  type TypedDataDomain,
} from 'viem'
import type { Network } from '#contract/network.ts'
import { bounded } from '../state/bounded.ts'
import { walletProblem, WalletError } from '../state/errors.ts'
import type { TypedData } from '../state/wallet-adapter.ts'
import { readAccounts } from './pay.ts'
import { switchChain } from './switch-chain.ts'

const SIGN_WITHIN_MS = 5 * 60_000
const SIGNATURE = /^0x[0-9a-f]{130}$/i

/**
 * Asks the wallet for an account's signature over typed data. Wallets refuse a domain of another
 * chain than their current one.
 * @throws WalletProblem; after any error, nothing was sent
 */
export async function signTypedData(
  provider: EIP1193Provider,
  network: Network,
  { address, walletName, data }: { address: string; walletName: string; data: TypedData },
): Promise<`0x${string}`> {
  await switchChain(provider, network, walletName)
  if ((await readAccounts(provider))[0] !== address)
    throw new WalletError('unauthorized', walletName)
  const domain = data.domain as TypedDataDomain
  const types = { ...data.types, EIP712Domain: getTypesForEIP712Domain({ domain }) }
  const text = serializeTypedData<Record<string, unknown>, string>({
    domain,
    types,
    primaryType: data.primaryType,
    message: data.message,
  })
  try {
    const signature: unknown = await bounded(
      provider.request({
        method: 'eth_signTypedData_v4',
        params: [address as `0x${string}`, text],
      }),
      SIGN_WITHIN_MS,
    )
    if (typeof signature === 'string' && SIGNATURE.test(signature))
      return signature.toLowerCase() as `0x${string}`
  } catch (error) {
    throw walletProblem(error, walletName)
  }
  // A contract wallet returns more than a key's signature, which these proofs cannot carry.
  throw new WalletError('unsupported', walletName)
}
