import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { ProblemError } from '#contract/problem.ts'
import type { OpenSession } from '../db/sessions.ts'
import type { EventHub } from './hub.ts'
import { Streams } from './streams.ts'

test('one IPv6 line has at most 20 streams, whatever addresses it takes', () => {
  // Nothing was ever received: streams wait.
  const hub = { ring: undefined, state: 'connecting', onChange: () => () => {} }
  const streams = new Streams({
    hub: hub as unknown as EventHub,
    log: pino({ level: 'silent' }),
    standing: async () => new Map(),
  })
  const network = (group: string) => `ip:2001:db8:1:${group}::/64`
  const open = (address: string, id: string): boolean => {
    const session = { id, wallets: [], member: null } as unknown as OpenSession
    try {
      streams.refuseTooMany(session, address)
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'RATE_LIMIT') return false
      throw error
    }
    const response = Object.assign(new EventEmitter(), { write: () => true, end: () => {} })
    const facts = { session, address, position: undefined, spend: () => {} }
    streams.open(response as unknown as ServerResponse, facts)
    return true
  }
  const opened = Array.from({ length: 30 }, (_, index) =>
    open(network(`ab${index + 10}`), `ses${index}`),
  )
  expect(opened.filter(Boolean)).toHaveLength(20)
  expect(open(network('ac00'), 'other')).toBe(true)
  streams.stop()
})
