import { expect, test } from 'vitest'
import { nextLiveState, STALE_AFTER_MS, type LiveSignal, type LiveState } from './live-state.ts'

function run(...steps: [LiveSignal, number][]): LiveState {
  let state: LiveState = { kind: 'off' }
  for (const [signal, now] of steps) state = nextLiveState(state, signal, now)
  return state
}

test('a short gap is reconnecting, a long one is stale since it began', () => {
  expect(run(['start', 0], ['open', 1], ['lost', 100], ['tick', 100 + STALE_AFTER_MS - 1])).toEqual(
    { kind: 'reconnecting', since: 100 },
  )
  expect(run(['start', 0], ['open', 1], ['lost', 100], ['tick', 100 + STALE_AFTER_MS])).toEqual({
    kind: 'stale',
    since: 100,
  })
})

test('further failures do not move the beginning of the gap', () => {
  expect(
    run(
      ['start', 0],
      ['lost', 100],
      ['lost', 9_000],
      ['tick', 100 + STALE_AFTER_MS],
      ['lost', 60_000],
    ),
  ).toEqual({ kind: 'stale', since: 100 })
})

test('an open stream is live whatever was before; a stopped one is off', () => {
  expect(run(['start', 0], ['lost', 1], ['tick', 60_000], ['open', 60_001])).toEqual({
    kind: 'live',
  })
  expect(run(['start', 0], ['open', 1], ['stop', 2], ['tick', 99_999])).toEqual({ kind: 'off' })
})

test('a stream that never opens is stale too, so that the pages are read without it', () => {
  expect(run(['start', 100], ['tick', 100 + STALE_AFTER_MS - 1])).toEqual({
    kind: 'connecting',
    since: 100,
  })
  expect(run(['start', 100], ['tick', 100 + STALE_AFTER_MS])).toEqual({ kind: 'stale', since: 100 })
})
