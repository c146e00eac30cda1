import type { PaymentIntent } from '#chains/match.ts'
import { Rng } from './rng.ts'

/** A payment as it was asked for, and bytes that somebody put in the place of its transaction. */
export type Attack = {
  how: string
  intent: PaymentIntent
  /** The valid, unsigned transaction. */
  reviewed: Uint8Array
  bytes: Uint8Array
  /** Which door the bytes come to: the review before the wallet, or the comparison of what the wallet gave back. */
  door: 'review' | 'signed'
}

export type TamperChain = {
  /** The next attack; may be a change that changes nothing of the meaning. */
  attack(rng: Rng): Promise<Attack>
  /** What the programs decide. */
  accepts(attack: Attack): boolean
  /**
   * Whether the bytes make the very payment of the intent, judged by the chain's own library and not by ours: if they are accepted by
   * the chain at all, exactly the amount goes from the sender to the recipient (on Solana under the payment's memo), nothing else of
   * the sender's moves, nobody else signs, and the network's charge stays within the cap.
   */
  isSamePayment(attack: Attack): Promise<boolean>
}

export type Tally = {
  blocked: number
  equal: number
  leaked: Attack[]
  ways: Map<string, { blocked: number; equal: number }>
}

/** Bytes that we accept and the chain's own library cannot even read are not proven to be anything. */
async function isProvenSame(chain: TamperChain, attack: Attack): Promise<boolean> {
  try {
    return await chain.isSamePayment(attack)
  } catch {
    return false
  }
}

/**
 * Throws attacks at a chain and counts. `leaked` holds each that was accepted and is another payment.
 * @throws when a valid transaction is refused, since then everything would be
 */
export async function tamper(chain: TamperChain, attacks: number, seed: number): Promise<Tally> {
  const rng = new Rng(seed)
  const tally: Tally = { blocked: 0, equal: 0, leaked: [], ways: new Map() }
  for (let index = 0; index < attacks; index++) {
    const attack = await chain.attack(rng)
    if (!chain.accepts({ ...attack, bytes: attack.reviewed, door: 'review' }))
      throw new Error(`The valid transaction of attack ${index} is refused (seed ${seed}).`)
    const way = tally.ways.get(attack.how) ?? { blocked: 0, equal: 0 }
    tally.ways.set(attack.how, way)
    if (!chain.accepts(attack)) {
      tally.blocked++
      way.blocked++
    } else if (await isProvenSame(chain, attack)) {
      tally.equal++
      way.equal++
    } else tally.leaked.push(attack)
  }
  return tally
}
