import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ATTACKS } from './attacks.ts'
import { isBroken, measureAttack, openWorld, stolenGrants, type World } from './run.ts'
import { openTargets, type Targets } from './targets.ts'

/** The short form of `npm run attacks`: fewer requests at once, and no waiting for deadlines. */

let stack: AsyncDisposableStack
let world: World
let opened: Targets

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  world = stack.use(await openWorld())
  opened = stack.use(await openTargets(world))
})

afterAll(() => stack?.disposeAsync())

describe('published attacks get nothing from this service that was not paid for', () => {
  const short = ATTACKS.filter(({ slow }) => !slow).map((attack) => ({ ...attack, attack }))
  test.each(short)('$id', async ({ attack }) => {
    const targets = await opened.of(attack.confirmations)
    const measured = await measureAttack(attack, { world, targets, parallel: 4 })
    const [official] = measured
    expect(official && stolenGrants(official)).toBeTypeOf('number')
    const broken = targets.filter((target, index) => {
      const found = measured[index]
      return found && isBroken(attack, target, found)
    })
    expect({ broken: broken.map(({ name }) => name), measured }).toMatchObject({ broken: [] })
  })
})
