import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import type { Network } from '#contract/network.ts'
import { getPreferences, setPreferences, usePreferences } from '../local-data/preferences.ts'
import { formatNumber } from '../locales/formats.ts'
import { checkNode, type NodeCheck } from './check-node.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { Fact, Facts } from '../ui/Facts.tsx'
import { Field } from '../ui/Field.tsx'
import { Input } from '../ui/Input.tsx'
import { toast } from '../ui/Toast.tsx'
import { formatDuration } from '../ui/format-time.ts'

/** The node for one network, with a test that says whether it is the right chain. A node of the wrong chain is not kept. */
export function NodeSetting({ network }: { network: Network }) {
  const { t } = useLingui()
  const labelId = useId()
  const own = usePreferences().rpcUrls[network.network]
  const configured = network.rpcUrls[0] ?? ''
  const [typed, setTyped] = useState(own ?? configured)
  const [check, setCheck] = useState<NodeCheck | 'running'>()
  const [problem, setProblem] = useState<string>()

  async function test() {
    const url = typed.trim()
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      setCheck(undefined)
      setProblem(t`Enter an address with https:// or http://.`)
      return
    }
    setProblem(undefined)
    setCheck('running')
    const result = await checkNode(network, url)
    setCheck(result)
    if (result.ok) keep(url === configured ? undefined : url)
  }

  function keep(url: string | undefined) {
    const { [network.network]: _, ...others } = getPreferences().rpcUrls
    setPreferences({ rpcUrls: url ? { ...others, [network.network]: url } : others })
  }

  function forget() {
    const before = own
    keep(undefined)
    setTyped(configured)
    setCheck(undefined)
    toast(t`Default endpoint restored.`, {
      undo: () => {
        keep(before)
        setTyped(before ?? configured)
      },
    })
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void test()
      }}
    >
      <Field
        aside={own && <Trans>Your own</Trans>}
        error={problem}
        hint={own ? <Trans>Configured: {configured}</Trans> : undefined}
        label={<span id={labelId}>{network.name}</span>}
      >
        <Input
          inputMode="url"
          mono
          onChange={(event) => {
            setTyped(event.target.value)
            setCheck(undefined)
            setProblem(undefined)
          }}
          value={typed}
        />
      </Field>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button aria-describedby={labelId} busy={check === 'running'} size="sm" type="submit">
          {typed.trim() === (own ?? configured) ? (
            <Trans context="button">Test</Trans>
          ) : (
            <Trans>Test and save</Trans>
          )}
        </Button>
        {own && (
          <Button onClick={forget} size="sm" variant="quiet">
            <Trans>Use default</Trans>
          </Button>
        )}
      </div>
      <div aria-live="polite">{check && check !== 'running' && <NodeReport check={check} />}</div>
    </form>
  )
}

/** A node this far behind shows payments late. */
const LATE_MS = 60_000

/** What a node answered: which chain, how far, how old its newest block is, how fast. */
function NodeReport({ check }: { check: NodeCheck }) {
  if (!check.ok) {
    return (
      <Banner className="mt-3" title={<Trans>Not used</Trans>} tone="bad">
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
        late ? <Trans>Right network, but behind</Trans> : <Trans>Right network, reachable</Trans>
      }
      tone={late ? 'warn' : 'good'}
    >
      <Facts className="figures mt-2 divide-current/15">
        <Fact name={<Trans>Chain</Trans>}>{check.identity}</Fact>
        <Fact name={<Trans>Block height</Trans>}>{formatNumber(check.height)}</Fact>
        <Fact name={<Trans>Newest block age</Trans>}>
          {check.lagMs === undefined ? <Trans>unknown</Trans> : formatDuration(check.lagMs)}
        </Fact>
        <Fact name={<Trans>Response time</Trans>}>
          <Trans>{{ durationMs: latency }} ms</Trans>
        </Fact>
      </Facts>
    </Banner>
  )
}
