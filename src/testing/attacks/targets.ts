import { openOfficial } from './official.ts'
import { openPaydesk } from './paydesk.ts'
import type { Target, World } from './run.ts'

const CONFIRMED = 10

export type Targets = AsyncDisposable & {
  /** The implementations that an attack is made on, the official packages first. */
  of: (confirmations: number | undefined) => readonly Target[]
}

/** Every implementation, once with the confirmations of the chain of the tests and once with 10. */
export async function openTargets(world: World): Promise<Targets> {
  await using stack = new AsyncDisposableStack()
  const [evm, solana] = world.networks
  const confirmed: World = { ...world, networks: [{ ...evm, confirmations: CONFIRMED }, solana] }
  const usual = await open(world, 1)
  const waiting = await open(confirmed, CONFIRMED)
  async function open(where: World, confirmations: number): Promise<readonly Target[]> {
    const official = stack.use(await openOfficial(where, confirmations))
    return [official, ...stack.use(await openPaydesk(where)).targets]
  }
  const running = stack.move()
  return {
    of: (confirmations) => (confirmations === undefined ? usual : waiting),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
