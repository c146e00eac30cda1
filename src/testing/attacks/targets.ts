import { openOfficial } from './official.ts'
import { openPaydesk } from './paydesk.ts'
import type { Target, World } from './run.ts'

const CONFIRMED = 10

export type Targets = AsyncDisposable & {
  /** The implementations that an attack is made on, the official packages first. */
  of: (confirmations: number | undefined) => Promise<readonly Target[]>
}

/** Every implementation, once with the confirmations of the chain of the tests, and once with 10 from the first attack on that needs them. */
export async function openTargets(world: World): Promise<Targets> {
  await using stack = new AsyncDisposableStack()
  const usual = await open(stack, { world, confirmations: 1 })
  const running = stack.move()
  let waiting: Promise<readonly Target[]> | undefined
  const openWaiting = () => {
    const [evm, solana] = world.networks
    const confirmed: World = { ...world, networks: [{ ...evm, confirmations: CONFIRMED }, solana] }
    return open(running, { world: confirmed, confirmations: CONFIRMED })
  }
  return {
    of: async (confirmations) =>
      confirmations === undefined ? usual : await (waiting ??= openWaiting()),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function open(
  stack: AsyncDisposableStack,
  { world, confirmations }: { world: World; confirmations: number },
): Promise<readonly Target[]> {
  const official = stack.use(await openOfficial(world, confirmations))
  return [official, ...stack.use(await openPaydesk(world)).targets]
}
