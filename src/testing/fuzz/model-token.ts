import {
  decodeFunctionData,
  encodeFunctionData,
  recoverAddress,
  slice,
  type Abi,
  type Hex,
} from 'viem'
import { authorizationAbi, digestOf, type Authorization } from '#chains/evm/authorization.ts'
import type { Contracts, ContractHolding } from '#service/chains/contracts.ts'

export const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
export const DOMAIN = { name: 'USD Coin', version: '2' }
export const CHAIN_ID = 8453
/** Half the order of secp256k1: the token refuses the other of a key's two signatures. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const GAS = 90_000n
const PRICE = 10n ** 9n
const HEIGHT = 1_000

/** What executes an authorization on the chain: a token by EIP-3009, as Circle wrote it, in memory. */
export class ModelToken {
  readonly balances = new Map<string, bigint>()
  readonly used = new Set<string>()
  readonly blocked = new Set<string>()
  /** Unix seconds. */
  now = () => BigInt(Math.floor(Date.now() / 1000))
  readonly #signers = new Map<string, string>()

  /** @throws Error where the token reverts */
  async execute(data: Hex): Promise<void> {
    const { functionName, args } = decodeFunctionData({ abi: authorizationAbi, data })
    if (functionName !== 'transferWithAuthorization') throw new Error('no such function')
    const [from, to, value, validAfter, validBefore, nonce] = args
    const signature: Hex =
      args.length === 9
        ? `${args[7]}${args[8].slice(2)}${args[6].toString(16).padStart(2, '0')}`
        : args[6]
    if (this.blocked.has(from) || this.blocked.has(to)) throw new Error('blacklisted')
    if (this.now() <= validAfter) throw new Error('not yet valid')
    if (this.now() >= validBefore) throw new Error('expired')
    if (this.used.has(`${from} ${nonce}`)) throw new Error('used')
    if ((this.balances.get(from) ?? 0n) < value) throw new Error('too little')
    const authorization: Authorization = {
      method: 'eip3009',
      token: TOKEN,
      amountAtomic: value,
      from,
      to,
      validAfter,
      validBefore,
      nonce,
      signature,
    }
    const hash = digestOf(authorization, { chainId: CHAIN_ID, ...DOMAIN })
    if ((await this.#signerOf(hash, signature)) !== from) throw new Error('invalid signature')
  }

  async #signerOf(hash: Hex, signature: Hex): Promise<string> {
    const key = `${hash} ${signature}`
    const known = this.#signers.get(key)
    if (known !== undefined) return known
    if (signature.length !== 132) throw new Error('invalid length')
    if (BigInt(slice(signature, 32, 64)) > HALF_ORDER) throw new Error('invalid s')
    if (!/1[bc]$/i.test(signature)) throw new Error('invalid v')
    const signer = await recoverAddress({ hash, signature })
    this.#signers.set(key, signer)
    return signer
  }

  holding(owner: string): ContractHolding {
    return {
      height: HEIGHT,
      balanceAtomic: this.balances.get(owner) ?? 0n,
      allowanceAtomic: null,
    }
  }

  /** `atOnce`: whether a call can be tried in one request. `believes`: a chain that executes everything there, so that a test sees it found. */
  contracts({ atOnce, believes = false }: { atOnce: boolean; believes?: boolean }): Contracts {
    const never = () => Promise.reject(new Error('Nothing asks this.'))
    const refusal = (data: Hex) =>
      this.execute(data).then(
        () => null,
        (error: Error) => error.message,
      )
    const price = { maxFeePerGas: PRICE, maxPriorityFeePerGas: 1n }
    const accepted = {
      ok: true,
      gas: GAS,
      ...price,
      feeAtomic: GAS * PRICE,
      height: HEIGHT,
    } as const
    return {
      domain: async () => DOMAIN,
      code: async (address) => (address === TOKEN ? '0x60' : undefined),
      read: (call) => this.read(call),
      holding: async ({ owner }) => this.holding(owner),
      executes: async ({ data }, { owner }) =>
        atOnce && (believes || (await refusal(data)) === null)
          ? { quote: accepted, holding: this.holding(owner) }
          : null,
      async quote({ data }) {
        const reason = await refusal(data)
        if (reason !== null)
          return {
            ok: false,
            certain: true,
            reason: { code: 'refused_with', params: { answer: reason } },
          }
        return accepted
      },
      findUse: async ({ from, nonce }) =>
        this.used.has(`${from} ${nonce}`)
          ? { used: true, signature: null, possible: [] }
          : { used: false },
      accepts: never,
      couldMove: never,
      price: never,
      build: never,
      proveEnding: never,
    }
  }

  /** What the official package reads. */
  async read({
    functionName,
    args = [],
    abi,
  }: {
    abi: Abi | readonly unknown[]
    functionName: string
    args?: readonly unknown[]
  }): Promise<unknown> {
    if (functionName === 'transferWithAuthorization')
      return this.execute(encodeFunctionData({ abi: abi as Abi, functionName, args: [...args] }))
    if (functionName === 'balanceOf') return this.holding(String(args[0])).balanceAtomic
    throw new Error(`The model has no ${functionName}.`)
  }
}
