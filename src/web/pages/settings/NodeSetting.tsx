import { useState } from 'react'
import type { Network } from '#contract/network.ts'
import { getPreferences, setPreferences, usePreferences } from '../../preferences.ts'
import { checkNode, type NodeCheck } from '../../rpc/check-node.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'

/** The node for one network, with a test that says whether it is the right chain. A node of the wrong chain is not kept. */
export function NodeSetting({ network }: { network: Network }) {
  const own = usePreferences().rpcUrls[network.network]
  const configured = network.rpcUrls[0] ?? ''
  const [typed, setTyped] = useState(own ?? configured)
  const [check, setCheck] = useState<NodeCheck | 'running'>()
  const [problem, setProblem] = useState<string>()

  async function test() {
    const url = typed.trim()
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      setCheck(undefined)
      setProblem('Enter an address that starts with https:// or http://.')
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

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void test()
      }}
    >
      <Field aside={own && 'Your own'} error={problem} hint={own ? `Configured: ${configured}` : undefined} label={network.name}>
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
        <Button busy={check === 'running'} size="sm" type="submit">
          {typed.trim() === (own ?? configured) ? 'Test' : 'Test and use'}
        </Button>
        {own && (
          <Button
            onClick={() => {
              keep(undefined)
              setTyped(configured)
              setCheck(undefined)
            }}
            size="sm"
            variant="quiet"
          >
            Use the configured one
          </Button>
        )}
      </div>
      <div aria-live="polite">
        {check && check !== 'running' && (
          <Banner className="mt-3" title={check.ok ? 'The right chain, and it answers' : 'This node is not used'} tone={check.ok ? 'good' : 'bad'}>
            {check.ok ? (
              <span className="figures">
                At height {check.height.toLocaleString()}, {check.latencyMs} ms, {check.identity}
              </span>
            ) : (
              check.problem
            )}
          </Banner>
        )}
      </div>
    </form>
  )
}
