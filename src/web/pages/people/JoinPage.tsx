import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import { callProxy } from '../../api/client.ts'
import { changeSession, useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Field } from '../../ui/Field.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { toast } from '../../ui/Toast.tsx'
import { roleWords } from './role-words.ts'

/** Where an invitation's link leads. The code stands after `#`: it is in no server's log. */
export function JoinPage() {
  const [code] = useState(() => window.location.hash.slice(1))
  const { title } = useConfig()
  return (
    <div className="mx-auto max-w-144">
      <PageHeader title={<Trans>Invitation</Trans>} />
      {/^[A-Za-z0-9_-]{43}$/.test(code) ? (
        <SignedIn
          invitation={<Trans>Sign in to join {title}</Trans>}
          skeleton={<Skeleton className="h-40 rounded-xl" />}
        >
          {() => <Accept code={code} />}
        </SignedIn>
      ) : (
        <Card>
          <ErrorState
            body={<Trans>Copy the whole link.</Trans>}
            title={<Trans>Invitation link incomplete</Trans>}
          />
        </Card>
      )}
    </div>
  )
}

function Accept({ code }: { code: string }) {
  const { t } = useLingui()
  const state = useSession()
  const wallets = state.kind === 'known' ? (state.session?.wallets ?? []) : []
  const [chosen, setChosen] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const walletAddress = chosen ?? wallets[0] ?? ''

  async function accept(event: FormEvent) {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { role } = await callProxy('peopleJoin', { body: { code, walletAddress } })
      const label = t(roleWords[role].label)
      toast(t`Your role: ${label}`, { tone: 'good' })
      await changeSession((await callProxy('session', {})).session)
      navigate(pathTo('overview', {}), { replace: true })
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  const refusal = problem === undefined ? undefined : describeRefusal(problem)
  return (
    <Card>
      <form className="grid gap-4" onSubmit={(event) => void accept(event)}>
        <Field label={<Trans>Wallet</Trans>}>
          <Select onChange={(event) => setChosen(event.target.value)} value={walletAddress}>
            {wallets.map((wallet) => (
              <option key={wallet} value={wallet}>
                {shortAddress(wallet)}
              </option>
            ))}
          </Select>
        </Field>
        {refusal && (
          <Banner role="alert" title={refusal.title} tone="bad">
            {refusal.body}
          </Banner>
        )}
        <div className="flex justify-end">
          <Button busy={busy} type="submit" variant="primary">
            <Trans>Accept invitation</Trans>
          </Button>
        </div>
      </form>
    </Card>
  )
}
