import type { MessageDescriptor } from '@lingui/core'
import { plural, msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import { PLANS, SCOPES, type Plan, type Scope } from '#contract/api-key-body.ts'
import type { ApprovedOperation } from '#contract/approval.ts'
import { call } from '../../api/client.ts'
import { serverNow } from '../../api/clock.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import { useConfig } from '../../api/use-config.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatNumber } from '../../locales/formats.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { ApproveStep, SignerNote, useSigner } from '../../approval/ApproveStep.tsx'
import { KeyProblem, type ShownKey } from './NewKeyDialog.tsx'
import { useApproval } from '../../approval/use-approval.ts'

/** What a key may do with each scope, in a sentence. */
const scopeWords: Readonly<Record<Scope, MessageDescriptor>> = {
  'payment:read': msg`Read payments and figures.`,
  'transaction:build': msg`Build payments for others.`,
  'token:read': msg`Look up tokens.`,
  'payment:receive': msg`Verify and settle proofs.`,
  'payment:send': msg`Pay from managed wallets.`,
  'keys:manage': msg`Manage keys and usage.`,
  'wallets:manage': msg`Make managed wallets.`,
}

/** Scopes that let their holder move money or make more keys. */
const POWERFUL: ReadonlySet<Scope> = new Set<Scope>([
  'payment:send',
  'keys:manage',
  'wallets:manage',
])

/** What the server that the page shows needs: it hands in proofs and reads payments. */
const DEFAULT_SCOPES: readonly Scope[] = ['payment:read', 'payment:receive']

const DAY_MS = 86_400_000
type KeyTerms = { environment: 'live' | 'test'; plan: Plan; /** 0 for no end. */ days: number }

const EXPIRIES = [0, 30, 90, 365] as const

export function CreateKeyDialog({
  onClose,
  onMade,
}: {
  onClose: () => void
  onMade: (made: ShownKey) => void
}) {
  const { networks } = useConfig()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState(DEFAULT_SCOPES)
  const [{ days, ...terms }, setTerms] = useState<KeyTerms>({
    environment: networks.every(({ testnet }) => testnet) ? 'test' : 'live',
    plan: 'standard',
    days: 90,
  })
  const [operation, setOperation] = useState<Extract<ApprovedOperation, { kind: 'create' }>>()
  const signer = useSigner()
  const approving = useApproval(make)
  const ready = name.trim() !== '' && scopes.length > 0 && signer !== undefined

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!ready || approving.busy) return
    const expiresAt = days === 0 ? undefined : serverNow() + days * DAY_MS
    const requested = {
      kind: 'create' as const,
      terms: {
        name: name.trim(),
        scopes: [...scopes],
        ...terms,
        ...(expiresAt !== undefined && { expiresAt }),
      },
    }
    setOperation(requested)
    void approving.requestApproval(requested, signer)
  }

  async function make(approval: string) {
    if (!operation) return
    try {
      const made = await call(
        'apiKeyCreate',
        { body: operation.terms },
        { idempotencyKey: crypto.randomUUID(), confirmation: operation.terms.name, approval },
      )
      onMade({ name: made.name, key: made.key })
    } finally {
      void queryClient.invalidateQueries(apiKeysQuery)
    }
  }

  return (
    <Dialog onClose={onClose} open title={<Trans>Create API key</Trans>}>
      {approving.approval && <ApproveStep approval={approving.approval} approving={approving} />}
      <form className="grid gap-4" hidden={approving.approval !== undefined} onSubmit={submit}>
        <Field label={<Trans>Name</Trans>}>
          <Input maxLength={100} onChange={(event) => setName(event.target.value)} value={name} />
        </Field>
        <ScopeChoice onChange={setScopes} scopes={scopes} />
        <Terms onChange={setTerms} terms={{ ...terms, days }} />
        <SignerNote signer={signer} />
        {approving.problem !== undefined && <KeyProblem problem={approving.problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={approving.busy} disabled={!ready} type="submit" variant="primary">
            <Trans>Create API key</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function ScopeChoice({
  scopes,
  onChange,
}: {
  scopes: readonly Scope[]
  onChange: (scopes: readonly Scope[]) => void
}) {
  const { t } = useLingui()
  return (
    <>
      <fieldset>
        <legend className="mb-2 text-sm font-medium">
          <Trans>Permissions</Trans>
        </legend>
        <div className="grid gap-3">
          {SCOPES.map((scope) => (
            <Checkbox
              checked={scopes.includes(scope)}
              hint={t(scopeWords[scope])}
              key={scope}
              label={<span className="font-mono text-[13px]">{scope}</span>}
              onChange={(event) =>
                onChange(
                  SCOPES.filter((each) =>
                    each === scope ? event.target.checked : scopes.includes(each),
                  ),
                )
              }
            />
          ))}
        </div>
      </fieldset>
      {scopes.some((scope) => POWERFUL.has(scope)) && (
        <Banner tone="warn">
          <Trans>This key can move money. Keep it on a server.</Trans>
        </Banner>
      )}
    </>
  )
}

/** How long, how often, and for which kind of network. */
function Terms({ terms, onChange }: { terms: KeyTerms; onChange: (terms: KeyTerms) => void }) {
  const { t } = useLingui()
  const [standard, premium] = [
    formatNumber(PLANS.standard.requestsPerMinute),
    formatNumber(PLANS.premium.requestsPerMinute),
  ]
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={<Trans>Expires</Trans>}>
          <Select
            onChange={(event) => onChange({ ...terms, days: Number(event.target.value) })}
            value={terms.days}
          >
            {EXPIRIES.map((each) => (
              <option key={each} value={each}>
                {each === 0
                  ? t`Never`
                  : t`${plural(each, { one: 'In # day', other: 'In # days' })}`}
              </option>
            ))}
          </Select>
        </Field>
        <Field label={<Trans>Plan</Trans>}>
          <Select
            onChange={(event) =>
              onChange({
                ...terms,
                plan: event.target.value === 'premium' ? 'premium' : 'standard',
              })
            }
            value={terms.plan}
          >
            <option value="standard">{t`Standard, ${standard} requests per minute`}</option>
            <option value="premium">{t`Premium, ${premium} requests per minute`}</option>
          </Select>
        </Field>
      </div>
      <div>
        <p aria-hidden className="mb-1.5 text-sm font-medium">
          {t`Environment`}
        </p>
        <Segmented
          label={t`Environment`}
          onChange={(environment) => onChange({ ...terms, environment })}
          options={[
            { value: 'live', label: t({ message: 'Live', context: 'API key' }) },
            { value: 'test', label: t`Test` },
          ]}
          value={terms.environment}
        />
        <p className="mt-1.5 text-sm text-muted">
          <Trans>pk_test_ and pk_live_ keys move the same money.</Trans>
        </p>
      </div>
    </>
  )
}
