import * as v from 'valibot'
import {
  ApiKeyInput,
  ApiKeyRow,
  keyId,
  MOST_KEYS,
  NewApiKeyBody,
  RotationInput,
} from './api-key-body.ts'
import type { Endpoint } from './endpoint.ts'
import { timestamp } from './fields.ts'
import { UsageBody, UsageQuery } from './usage.ts'

/** Additions: an account's keys, and their usage. */
export const keyEndpoints = {
  /** Additions: the account's keys. */
  apiKeyList: {
    method: 'GET',
    path: '/api-keys',
    summary: "The account's API keys, oldest first; of each only a hint",
    scope: 'keys:manage',
    audience: 'browser',
    response: v.object({ success: v.literal(true), keys: v.array(ApiKeyRow) }),
    problems: [],
  },
  /** A key grants no scope that the asking key lacks, and no plan above the account's. */
  apiKeyCreate: {
    method: 'POST',
    path: '/api-keys',
    summary: `Make an API key; the key itself is shown in this answer and never again. An account has at most ${MOST_KEYS} valid keys (\`FORBIDDEN\` beyond)`,
    scope: 'keys:manage',
    audience: 'browser',
    body: ApiKeyInput,
    response: NewApiKeyBody,
    secret: 'key',
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** The successor has the same name, scopes, plan and expiry. Both are valid until the grace ends. */
  apiKeyRotate: {
    method: 'POST',
    path: '/api-keys/:id/rotate',
    summary:
      'Replace an API key; the old one stays valid until the grace ends, and does not count among the keys of the account',
    scope: 'keys:manage',
    audience: 'browser',
    params: v.object({ id: keyId }),
    body: RotationInput,
    /** The old key is valid until then. */
    response: v.object({ ...NewApiKeyBody.entries, graceEndsAt: timestamp }),
    secret: 'key',
    problems: ['NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  apiKeyDelete: {
    method: 'DELETE',
    path: '/api-keys/:id',
    summary: 'End an API key at once; a key cannot delete itself',
    scope: 'keys:manage',
    audience: 'browser',
    params: v.object({ id: keyId }),
    response: v.object({ success: v.literal(true), ...ApiKeyRow.entries }),
    problems: ['NOT_FOUND'],
  },
  /** Addition: how often the account's keys were used. */
  usage: {
    method: 'GET',
    path: '/usage',
    summary: 'Requests counted per key, endpoint and status, by minute, hour or day',
    scope: 'keys:manage',
    audience: 'browser',
    query: UsageQuery,
    response: UsageBody,
    problems: [],
  },
} as const satisfies Record<string, Endpoint>
