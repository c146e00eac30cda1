import { Trans } from '@lingui/react/macro'
import { formatNumber } from '../../locales/formats.ts'
import type { NodeCheck } from '../../rpc/check-node.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { formatDuration } from '../../ui/format-time.ts'

/** A node this far behind shows payments late. */
const LATE_MS = 60_000

/** What a node answered: which chain, how far, how old its newest block is, how fast. */
export function NodeReport({ check }: { check: NodeCheck }) {
  if (!check.ok) {
    return (
      <Banner className="mt-3" title={<Trans>This node is not used</Trans>} tone="bad">
        {check.problem}
      </Banner>
    )
  }
  const late = check.lagMs !== undefined && check.lagMs > LATE_MS
  const latency = formatNumber(check.latencyMs)
  return (
    <Banner
      className="mt-3"
      title={
        late ? (
          <Trans>The right chain, but this node is behind</Trans>
        ) : (
          <Trans>The right chain, and it answers</Trans>
        )
      }
      tone={late ? 'warn' : 'good'}
    >
      <Facts className="figures mt-2 divide-current/15">
        <Fact name={<Trans>Chain</Trans>}>{check.identity}</Fact>
        <Fact name={<Trans>Height</Trans>}>{formatNumber(check.height)}</Fact>
        <Fact name={<Trans>Age of its newest block</Trans>}>
          {check.lagMs === undefined ? <Trans>not told</Trans> : formatDuration(check.lagMs)}
        </Fact>
        <Fact name={<Trans>Answers in</Trans>}>
          <Trans>{latency} ms</Trans>
        </Fact>
      </Facts>
    </Banner>
  )
}
