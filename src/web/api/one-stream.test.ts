import { afterEach, expect, test, vi } from 'vitest'
import { OneStream, SILENT_MS, type Source } from './one-stream.ts'

/** Tabs over real Web Locks and a real channel; only the connection to the proxy is in the hands of the test. */

class Connection implements Source {
  readyState = 0
  readonly after: string | undefined
  readonly #target = new EventTarget()

  constructor(after: string | undefined) {
    this.after = after
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#target.addEventListener(type, listener as (event: Event) => void)
  }

  close(): void {
    this.readyState = 2
  }

  open(): void {
    this.readyState = 1
    this.#target.dispatchEvent(new Event('open'))
    this.beat(true, '')
  }

  /** `live`: whether the service behind the proxy tells of payments. */
  beat(live: boolean, lastEventId = '10'): void {
    this.#target.dispatchEvent(
      new MessageEvent('beat', { data: JSON.stringify({ live }), lastEventId }),
    )
  }

  fail(final: boolean): void {
    this.readyState = final ? 2 : 0
    this.#target.dispatchEvent(new Event('error'))
  }

  say(type: 'payment' | 'reset' | 'beat', lastEventId: string): void {
    this.#target.dispatchEvent(
      new MessageEvent(type, { data: `data of ${lastEventId}`, lastEventId }),
    )
  }
}

let browser = 0
const tabs: Tab[] = []
const connections: Connection[] = []

class Tab {
  readonly heard: string[] = []
  readonly stream: OneStream
  visible = true

  constructor({ locked = true } = {}) {
    this.stream = new OneStream({
      name: `test-events-${browser}`,
      open: (after) => {
        const connection = new Connection(after)
        connections.push(connection)
        return connection
      },
      locks: locked ? navigator.locks : undefined,
      visible: () => this.visible,
      listener: {
        live: () => this.heard.push('live'),
        lost: () => this.heard.push('lost'),
        payment: (data) => this.heard.push(data),
        reset: () => this.heard.push('reset'),
        refused: () => this.heard.push('refused'),
      },
    })
    tabs.push(this)
  }
}

const openOnes = () => connections.filter(({ readyState }) => readyState !== 2)

async function latest(count: number): Promise<Connection> {
  await expect.poll(() => connections.length).toBe(count)
  const connection = connections.at(-1)
  if (!connection) throw new Error('No connection was opened.')
  return connection
}

afterEach(() => {
  vi.restoreAllMocks()
  for (const tab of tabs.splice(0)) tab.stream.close()
  connections.splice(0)
  browser++
})

test('two tabs read one stream, and both hear all of it once', async () => {
  const first = new Tab()
  const connection = await latest(1)
  connection.open()
  connection.say('beat', '10')
  const second = new Tab()
  await expect.poll(() => second.heard).toEqual(['live'])
  connection.say('payment', '11')
  connection.say('payment', '11')
  connection.say('payment', '12')
  await expect.poll(() => second.heard).toEqual(['live', 'data of 11', 'data of 12'])
  expect(first.heard).toEqual(['live', 'data of 11', 'data of 12'])
  expect(connections).toHaveLength(1)
})

test('when the reading tab closes, the other reads on behind what it heard: nothing is lost and nothing comes twice', async () => {
  const first = new Tab()
  const one = await latest(1)
  one.open()
  const second = new Tab()
  await expect.poll(() => second.heard).toEqual(['live'])
  one.say('payment', '11')
  await expect.poll(() => second.heard).toContain('data of 11')
  first.stream.close()

  const two = await latest(2)
  expect(two.after).toBe('11')
  expect(openOnes()).toEqual([two])
  two.open()
  two.say('payment', '11')
  two.say('payment', '12')
  expect(second.heard).toEqual(['live', 'data of 11', 'data of 12'])
})

test('a tab that takes over before the stream said where it stands reads everything again', async () => {
  const first = new Tab()
  const one = await latest(1)
  one.open()
  const second = new Tab()
  await expect.poll(() => second.heard).toEqual(['live'])
  first.stream.close()
  const two = await latest(2)
  expect(two.after).toBeUndefined()
  two.open()
  expect(second.heard).toEqual(['live', 'live'])
})

test('what cuts the stream is known in every tab, and so is its return', async () => {
  const first = new Tab()
  const one = await latest(1)
  one.open()
  one.say('beat', '10')
  const second = new Tab()
  await expect.poll(() => second.heard).toEqual(['live'])
  one.fail(false)
  one.open()
  await expect.poll(() => second.heard).toEqual(['live', 'lost', 'live'])
  expect(first.heard).toEqual(['live', 'lost', 'live'])
  one.say('reset', '3')
  one.say('payment', '4')
  await expect.poll(() => second.heard.slice(3)).toEqual(['reset', 'data of 4'])
})

test('a refusal is told to every tab, and the next stream goes on behind the last event', async () => {
  const first = new Tab()
  const one = await latest(1)
  one.open()
  one.say('payment', '10')
  const second = new Tab()
  await expect.poll(() => second.heard).toEqual(['live'])
  one.fail(true)
  await expect.poll(() => second.heard).toEqual(['live', 'lost', 'refused'])
  expect(first.heard.slice(-2)).toEqual(['lost', 'refused'])
  await vi.waitFor(() => expect(connections).toHaveLength(2), 3_000)
  expect(connections[1]?.after).toBe('10')
})

test('a connection that is silent for too long is not live: it is replaced', async () => {
  const tab = new Tab()
  const one = await latest(1)
  one.open()
  one.say('beat', '10')
  tab.stream.tick(Date.now() + SILENT_MS - 1_000)
  expect(connections).toHaveLength(1)
  tab.stream.tick(Date.now() + SILENT_MS + 1_000)
  expect(tab.heard).toEqual(['live', 'lost'])
  expect(openOnes()).toEqual([await latest(2)])
  expect(connections[1]?.after).toBe('10')
})

test('an open connection is not live while the service behind the proxy is gone, in any tab', async () => {
  const first = new Tab()
  const one = await latest(1)
  one.open()
  one.beat(true)
  const second = new Tab()
  await expect.poll(() => second.heard).toEqual(['live'])
  one.beat(false)
  one.beat(false)
  await expect.poll(() => second.heard.slice(1)).toEqual(['lost', 'lost'])
  one.beat(true)
  await expect.poll(() => second.heard.slice(3)).toEqual(['live'])
  expect(first.heard).toEqual(['live', 'lost', 'lost', 'live'])
})

test('a tab that someone looks at takes the stream from one that was frozen; a hidden one waits', async () => {
  const frozen = new Tab()
  const one = await latest(1)
  one.open()
  one.say('beat', '10')
  const seen = new Tab()
  await expect.poll(() => seen.heard).toEqual(['live'])
  // A frozen tab hears nothing and answers nothing, and holds its lock.
  vi.spyOn(BroadcastChannel.prototype, 'postMessage').mockImplementation(() => {})
  seen.visible = false
  for (let index = 0; index < 5; index++) seen.stream.tick(Date.now())
  expect(connections).toHaveLength(1)
  seen.visible = true
  for (let index = 0; index < 3; index++) seen.stream.tick(Date.now())
  const two = await latest(2)
  expect(two.after).toBe('10')
  vi.restoreAllMocks()
  await expect.poll(() => openOnes()).toEqual([two])
  two.open()
  two.say('payment', '11')
  await expect.poll(() => frozen.heard).toEqual(['live', 'data of 11'])
  expect(seen.heard).toEqual(['live', 'data of 11'])
})

test('without locks every tab reads for itself', async () => {
  for (const tab of [new Tab({ locked: false }), new Tab({ locked: false })])
    expect(tab.heard).toEqual([])
  await latest(2)
})
