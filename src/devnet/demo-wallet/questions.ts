import * as v from 'valibot'
import { readTransferCall } from '#chains/evm/erc20.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { checksumAddress, EVM_NATIVE, SOLANA_NATIVE, type Family } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import { renderMatchFact } from '#contract/render-facts.ts'
import type { EvmApprovalRequest, EvmCall, WalletTypedData } from './evm-wallet.ts'
import type { SolanaApprovalRequest } from './solana-wallet.ts'
import { remember, setup, type DemoPerson } from './people.ts'
import { ProviderError, userRejected } from './owner.ts'
import { requestApproval, type ApprovalRequest } from './approval-dialog.ts'

/** As pages show it: typed data has it in small letters. */
const address = v.pipe(v.string(), v.transform(checksumAddress))

const atomic = v.pipe(
  v.union([v.pipe(v.string(), v.digits()), v.pipe(v.number(), v.safeInteger())]),
  v.transform((digits) => BigInt(digits)),
)

/** Lets the person choose an account for this page. @throws ProviderError 4001 */
export async function chooseAccount(family: Family): Promise<DemoPerson> {
  const { people } = await setup()
  const answer = await requestApproval({
    title: 'Connect this page?',
    explanation: `${location.host} will see the address of the account you choose, and may ask you to sign.`,
    choices: people.map((person) => ({
      label: person.name,
      detail: person[family].address,
      value: person.name,
    })),
    approve: 'Connect',
  })
  const chosen = people.find(({ name }) => name === answer)
  if (!chosen) throw userRejected()
  remember(family, chosen.name)
  return chosen
}

/** Shows what an account is to sign. @throws ProviderError 4001 */
export async function confirmSigning(
  request: EvmApprovalRequest | SolanaApprovalRequest,
  address: string,
): Promise<void> {
  const { people, tokens } = await setup()
  const signer = people.find(({ evm, solana }) => [evm.address, solana.address].includes(address))
  if (
    (await requestApproval(describeRequest(request, signer?.name ?? address, tokens))) === undefined
  )
    throw userRejected()
}

/** The first line of a sign-in text (ERC-4361, and its form for Solana). */
const SIGN_IN = /^\S+ wants you to sign in with your /
const FREE = 'It moves no money.'
/** What a text or unknown data permits, only its reader can tell. */
const READ = 'It may permit payments. Read it before you sign.'
const FREE_TYPES: ReadonlySet<string> = new Set(['PaymentProof', 'PaymentEvidence'])

const Authorization = v.object({ to: address, value: atomic })
const Permit = v.object({
  permitted: v.object({ token: v.string(), amount: atomic }),
  spender: address,
  witness: v.object({ to: address }),
})
const Hosted = v.object({ from: address, to: address, asset: v.string(), amount: atomic })

/** @throws ProviderError when it cannot be read: nobody signs it then */
function readTerms<S extends v.GenericSchema>(schema: S, message: unknown): v.InferOutput<S> {
  const read = v.safeParse(schema, message)
  if (!read.success) throw new ProviderError(-32602, 'This wallet cannot read the payment.')
  return read.output
}

/** What typed data pays to whom, where its signature is enough to pay; undefined for other data. */
function describePaying(
  { primaryType, domain, message }: WalletTypedData,
  tokens: readonly Asset[],
): (readonly [string, string])[] | undefined {
  const money = (asset: string, amount: bigint) => {
    if (asset === EVM_NATIVE) return `${formatAmount(amount, 18)} ETH`
    const token = tokens.find(({ address }) => address.toLowerCase() === asset.toLowerCase())
    return token
      ? `${formatAmount(amount, token.decimals)} ${token.symbol}`
      : `${amount} units of ${asset}`
  }
  if (primaryType === 'TransferWithAuthorization') {
    const { to, value } = readTerms(Authorization, message)
    return [
      ['Amount', money(String(domain['verifyingContract']), value)],
      ['To', to],
    ]
  }
  if (primaryType === 'PermitWitnessTransferFrom') {
    const { permitted, spender, witness } = readTerms(Permit, message)
    return [
      ['Amount', money(permitted.token, permitted.amount)],
      ['To', witness.to],
      ['Taken by', spender],
    ]
  }
  if (primaryType !== 'HostedPayment') return undefined
  const { from, to, asset, amount } = readTerms(Hosted, message)
  return [
    ['Amount', money(asset, amount)],
    ['To', to],
    ['From the managed wallet', from],
  ]
}

/** What the person reads before they sign. @throws ProviderError when a payment cannot be read */
export function describeRequest(
  request: EvmApprovalRequest | SolanaApprovalRequest,
  name: string,
  tokens: readonly Asset[],
): ApprovalRequest {
  const payment = { explanation: `From ${name}, on the local network.`, approve: 'Approve' }
  const message = (meaning: string) => ({
    title: 'Sign this message?',
    explanation: `${location.host} asks ${name} to sign. ${meaning}`,
    approve: 'Sign',
  })
  if (request.kind === 'message')
    return { ...message(SIGN_IN.test(request.text) ? FREE : READ), text: request.text }
  if (request.kind === 'typed_data') {
    const { domain, primaryType, message: signed } = request.data
    const text = JSON.stringify({ domain, [primaryType]: signed }, null, 2)
    const facts = describePaying(request.data, tokens)
    if (!facts) return { ...message(FREE_TYPES.has(primaryType) ? FREE : READ), text }
    const explanation =
      primaryType === 'HostedPayment'
        ? `${name} approves a payment from a managed wallet, on the local network.`
        : payment.explanation
    return {
      ...payment,
      title: 'Sign this payment?',
      explanation: `${explanation} This signature authorizes the payment.`,
      facts,
      folded: { summary: 'Signed data', text },
    }
  }
  if ('transaction' in request)
    return { ...payment, ...describeTransaction(request.transaction, tokens) }
  const { gas, maxFeePerGas } = request.call
  const { title, facts } = describeCall(request.call, tokens)
  return {
    ...payment,
    title,
    facts: [...facts, ['Network fee', `up to ${formatAmount(gas * maxFeePerGas, 18)} ETH`]],
  }
}

type CallDescription = { title: string; facts: (readonly [string, string])[] }

/** A transfer of a token that the wallet knows is told in its units; any other data as it is. */
function describeCall({ to, value, data }: EvmCall, tokens: readonly Asset[]): CallDescription {
  const token = to && tokens.find(({ address }) => address.toLowerCase() === to.toLowerCase())
  const transfer = token && value === 0n ? readTransferCall(data) : undefined
  if (token && transfer)
    return {
      title: 'Send this payment?',
      facts: [
        ['Amount', `${formatAmount(transfer.amountAtomic, token.decimals)} ${token.symbol}`],
        ['To', transfer.recipient],
        ['Token', token.address],
      ],
    }
  return {
    // Data may be an approval or a receipt, which pay nobody.
    title: to && data === '0x' ? 'Send this payment?' : 'Send this transaction?',
    facts: [
      ['Amount', `${formatAmount(value, 18)} ETH`],
      ['To', to ?? 'A new contract'],
      ...(data === '0x' ? [] : ([['Data', data]] as const)),
    ],
  }
}

/** What a Solana transaction does, read from its bytes. @throws ProviderError when it cannot be read: nobody signs it then */
function describeTransaction(
  transaction: Uint8Array,
  tokens: readonly Asset[],
): Pick<ApprovalRequest, 'title' | 'facts'> {
  const decoded = decodeTransaction(transaction, tokens)
  if (!decoded.ok)
    throw new ProviderError(-32602, `This wallet cannot read the transaction: ${decoded.problem}`)
  const { transfer, feePayer, feeBoundAtomic, steps } = decoded
  const fee = [
    'Network fee',
    `up to ${formatAmount(feeBoundAtomic, 9)} SOL, paid by ${feePayer}`,
  ] as const
  if (!transfer || transfer.recipient === null || transfer.asset !== SOLANA_NATIVE) {
    const rows = steps.flatMap(({ kind, facts }) =>
      Object.entries(facts).map(
        ([label, value]) =>
          [`${kind.replaceAll('_', ' ')}: ${label}`, renderMatchFact(value)] as const,
      ),
    )
    return { title: 'Sign this transaction?', facts: [...rows, fee] }
  }
  const { amountAtomic, recipient, memo } = transfer
  return {
    title: 'Sign this payment?',
    facts: [
      ['Amount', `${formatAmount(amountAtomic, 9)} SOL`],
      ['To', recipient],
      ...(memo === null ? [] : [['Memo', memo] as const]),
      fee,
    ],
  }
}
