import { parseAddress, type Family } from '#contract/address.ts'
import { describeAmountProblem, parseAmount, type ParsedAmount } from '#contract/amount.ts'
import { familyOf, type Asset, type Network } from '#contract/network.ts'
import { formatAmountText } from '../../ui/format-amount.ts'

/** What the form holds, as typed. */
export type Fields = {
  network: string
  recipient: string
  amount: string
  resource: string
  description: string
  reference: string
  /** Empty: automatic. */
  priorityFee: string
}

/** Bounds of a priority fee, in native currency, as the service's interface states them. */
const PRIORITY_FEE = { min: '0.00001', max: '0.01' }

/** The amount as typed, with the decimal point of the writer's language: `0,1` and `0.1` are the same. */
export function readAmount(text: string, asset: Asset): ParsedAmount {
  const plain = text.trim().replace(/^\./, '0.')
  return parseAmount(/^[0-9]*,[0-9]+$/.test(plain) ? plain.replace(/^,/, '0,').replace(',', '.') : plain, asset.decimals)
}

/** Invisible characters come along when people copy addresses from chats. */
export function readRecipient(text: string): string {
  return text.replace(/[\s\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g, '')
}

export function checkRecipient(text: string, network: Network, sender: string | undefined): string | true {
  const parsed = parseAddress(readRecipient(text))
  if (!parsed.ok)
    return parsed.problem === 'bad_checksum'
      ? 'The checksum is wrong: one character may be mistyped. Copy the address again.'
      : 'This is not an address. Paste the whole of it.'
  const wanted = familyOf(network.network)
  if (parsed.family !== wanted) return `This is ${nameOf(parsed.family)} address, and ${network.name} needs ${nameOf(wanted)} one.`
  return parsed.address === sender ? 'This is your own address. Pay someone else.' : true
}

export function checkAmount(text: string, asset: Asset, balanceAtomic: bigint | undefined): string | true {
  const parsed = readAmount(text, asset)
  if (!parsed.ok) return text.trim() === '' ? 'Enter an amount.' : describeAmountProblem(parsed.problem, text, asset.decimals)
  if (balanceAtomic !== undefined && parsed.atomic > balanceAtomic) {
    const spell = (atomic: bigint) => `${formatAmountText(atomic, asset.decimals, { exact: true }).text} ${asset.symbol}`
    return `You hold ${spell(balanceAtomic)}. That is ${spell(parsed.atomic - balanceAtomic)} too little.`
  }
  return parsed.atomic === balanceAtomic ? 'Nothing would be left for the network fee. Choose a smaller amount.' : true
}

export function checkResource(text: string): string | true {
  if (text.trim() === '') return true
  return /^https?:\/\/\S+$/.test(text.trim()) && URL.canParse(text.trim()) && text.length <= 2048 ? true : 'Enter a whole web address, with https://.'
}

export function checkPriorityFee(text: string, native: Asset): string | true {
  if (text.trim() === '') return true
  const parsed = readAmount(text, native)
  if (!parsed.ok) return describeAmountProblem(parsed.problem, text, native.decimals)
  const [min, max] = [parseAmount(PRIORITY_FEE.min, native.decimals), parseAmount(PRIORITY_FEE.max, native.decimals)]
  const within = min.ok && max.ok && parsed.atomic >= min.atomic && parsed.atomic <= max.atomic
  return within ? true : `Enter ${PRIORITY_FEE.min} to ${PRIORITY_FEE.max} ${native.symbol}.`
}

function nameOf(family: Family): string {
  return family === 'evm' ? 'an Ethereum' : 'a Solana'
}
