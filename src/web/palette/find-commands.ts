import { isPaymentId } from '#contract/payment.ts'
import { parseSearch } from '#contract/payment-search.ts'

/** What the palette offers by name. */
export type PaletteCommand = { id: string; label: string; to: string }

/** Commands whose names contain every typed word. Names that begin with the whole text come first. */
export function findCommands<T extends PaletteCommand>(commands: readonly T[], typed: string): T[] {
  const query = plain(typed)
  const words = query.split(/\s+/).filter(Boolean)
  const found = commands.filter(({ label }) => words.every((word) => plain(label).includes(word)))
  const begins = ({ label }: T) => plain(label).startsWith(query)
  return [...found.filter(begins), ...found.filter((each) => !begins(each))]
}

/** Without case and accents: people leave them out. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim()
}

/** From so many characters on, payments are searched. */
const LEAST = 2
/** The most that a search takes. */
const MOST = 300

/** What is typed, as a search of payments; undefined where it is none, or has an operator that cannot be read. */
export function searchOf(typed: string): string | undefined {
  const q = typed.trim()
  if (q.length < LEAST || q.length > MOST) return undefined
  return parseSearch(q).ok ? q : undefined
}

/** The id of a payment, if that is what was typed or pasted: also out of the address of its page. */
export function paymentIdIn(typed: string): string | undefined {
  const last = typed.trim().split(/[?#]/)[0]?.split('/').at(-1) ?? ''
  return isPaymentId(last) ? last : undefined
}
