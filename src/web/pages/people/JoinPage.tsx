import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { changeSession, useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Field } from '../../ui/Field.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { invitationQuery } from './people-queries.ts'
import { roleWords } from './role-words.ts'

/** Where an invitation's link leads. The code stands after `#`: it is in no server's log. */
export function JoinPage() {
  const [code] = useState(() => window.location.hash.slice(1))
  return (
    <div className="mx-auto max-w-144">
      <PageHeader title={<Trans>Invitation</Trans>} />
      {/^[A-Za-z0-9_-]{43}$/.test(code) ? (
        <Invitation code={code} />
      ) : (
        <Card>
          <ErrorState
            body={<Trans>Copy the whole link, or ask for another.</Trans>}
            title={<Trans>Invitation link incomplete</Trans>}
          />
        </Card>
      )}
    </div>
  )
}

/** Whose it is and what it gives, before anybody signs in for it. */
function Invitation({ code }: { code: string }) {
  const { t } = useLingui()
  const { title } = useConfig()
  const { data, error, refetch, isFetching } = useQuery(invitationQuery(code))
  if (error) {
    const refusal = describeRefusal(error)
    return (
      <Card>
        {error instanceof ApiError && error.code === 'FORBIDDEN' ? (
          <ErrorState body={refusal.body} title={refusal.title} />
        ) : (
          <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
        )}
      </Card>
    )
  }
  if (!data) return <Skeleton className="h-64 rounded-xl" />
  const { label, may } = roleWords[data.role]
  return (
    <div className="grid gap-4">
      <Card>
        <Facts>
          <Fact long name={<Trans>Invited by</Trans>}>
            <Address full value={data.createdBy} />
          </Fact>
          <Fact long name={<Trans>Role</Trans>}>
            {t(label)}
            <span className="block text-sm text-muted">{t(may)}</span>
          </Fact>
          <Fact name={<Trans>Valid until</Trans>}>
            <Time at={data.expiresAt} />
          </Fact>
        </Facts>
      </Card>
      <SignedIn
        invitation={<Trans>Sign in to join {title}</Trans>}
        skeleton={<Skeleton className="h-40 rounded-xl" />}
      >
        {() => <Accept code={code} />}
      </SignedIn>
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
        <Field
          hint={<Trans>You now sign in with this wallet.</Trans>}
          label={<Trans>Wallet</Trans>}
        >
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
