import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent, type ReactNode } from 'react'
import type { ApprovedOperation } from '#contract/approval.ts'
import type { PersonRow } from '#contract/people-endpoints.ts'
import { ROLES, type Role } from '#contract/role.ts'
import { callProxy } from '../../api/client.ts'
import { ApproveStep, SignerNote, useSigner } from '../../approval/ApproveStep.tsx'
import { useApproval } from '../../approval/use-approval.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { hrefOf } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { toast } from '../../ui/Toast.tsx'
import { cachePeople, refreshPeople } from './people-queries.ts'
import { roleWords } from './role-words.ts'

type InviteProps = { onClose: () => void; onMade: (code: string) => void }

export function InviteDialog({ onClose, onMade }: InviteProps) {
  const [role, setRole] = useState<Role>('viewer')
  return (
    <RoleDialog
      action={<Trans>Create invitation link</Trans>}
      onChange={setRole}
      onClose={onClose}
      operation={{ kind: 'invite', role }}
      role={role}
      run={async (approval) => {
        const { code } = await callProxy('peopleInvite', { body: { role } }, { approval })
        onMade(code)
      }}
      subject={
        <p className="text-sm text-muted">
          <Trans>Valid for 7 days.</Trans>
        </p>
      }
      title={<Trans>Invite a person</Trans>}
    />
  )
}

type PersonProps = { person: PersonRow; onClose: () => void }

export function ChangeRoleDialog({ person, onClose }: PersonProps) {
  const { t } = useLingui()
  const [role, setRole] = useState(person.role)
  const change = { walletAddress: person.wallet, role }
  return (
    <RoleDialog
      action={<Trans>Change role</Trans>}
      onChange={setRole}
      onClose={onClose}
      operation={{ kind: 'changeRole', ...change }}
      role={role}
      run={async (approval) => {
        cachePeople(await callProxy('peopleChange', { body: change }, { approval }))
        toast(t`Role changed`)
        onClose()
      }}
      subject={<Address full value={person.wallet} />}
      title={<Trans>Change role</Trans>}
      unchanged={role === person.role}
    />
  )
}

type RoleDialogProps = {
  title: ReactNode
  /** Whose role it is, or how long they may take it. */
  subject?: ReactNode
  role: Role
  onChange: (role: Role) => void
  operation: ApprovedOperation
  /** Executes what was signed. */
  run: (approval: string) => Promise<void>
  action: ReactNode
  unchanged?: boolean
  onClose: () => void
}

/** Chooses a role, then has an owner's wallet sign it. */
function RoleDialog({ operation, run, ...props }: RoleDialogProps) {
  const { t } = useLingui()
  const { title, subject, role, onChange, action, unchanged, onClose } = props
  const signer = useSigner()
  const approving = useApproval((approval) => run(approval).finally(refreshPeople))
  const ready = signer !== undefined && !unchanged

  function submit(event: FormEvent) {
    event.preventDefault()
    if (ready && !approving.busy) void approving.requestApproval(operation, signer)
  }

  return (
    <Dialog onClose={onClose} open title={title}>
      {approving.approval && <ApproveStep approval={approving.approval} approving={approving} />}
      <form className="grid gap-4" hidden={approving.approval !== undefined} onSubmit={submit}>
        {subject}
        <div>
          <p aria-hidden className="mb-1.5 text-sm font-medium">
            {t`Role`}
          </p>
          <Segmented
            label={t`Role`}
            onChange={onChange}
            options={ROLES.map((each) => ({ value: each, label: t(roleWords[each].label) }))}
            value={role}
          />
          <p className="mt-1.5 text-sm text-muted">{t(roleWords[role].may)}</p>
        </div>
        <SignerNote signer={signer} />
        {approving.problem !== undefined && <Refusal problem={approving.problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={approving.busy} disabled={!ready} type="submit" variant="primary">
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Refusal({ problem }: { problem: unknown }) {
  const { title, body } = describeRefusal(problem)
  return (
    <Banner role="alert" title={title} tone="bad">
      {body}
    </Banner>
  )
}

/** The link of an invitation, in the one moment in which it can be seen. */
export function InvitationLinkDialog({ code, onClose }: { code: string; onClose: () => void }) {
  const { t } = useLingui()
  const link = new URL(`${hrefOf(pathTo('join', {}))}#${code}`, window.location.origin).href
  return (
    <Dialog
      description={
        <>
          <Trans>Shown only once.</Trans> <Trans>Valid for 7 days.</Trans>
        </>
      }
      dismissable={false}
      footer={
        <Button onClick={onClose} variant="primary">
          <Trans>Done</Trans>
        </Button>
      }
      onClose={onClose}
      open
      title={<Trans>Invitation link</Trans>}
    >
      <div className="grid gap-3">
        <code
          aria-label={t`Invitation link`}
          className="rounded-lg border border-edge bg-sunken px-3 py-2 font-mono text-[13px] [overflow-wrap:anywhere]"
        >
          {link}
        </code>
        <div>
          <CopyButton label={t`Copy`} text value={link} />
        </div>
        <Banner tone="warn">
          <Trans>Send it privately. The first wallet gets the role.</Trans>
        </Banner>
      </div>
    </Dialog>
  )
}

export function RemovePersonDialog({ person: { wallet, configured }, onClose }: PersonProps) {
  const { t } = useLingui()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()

  async function remove() {
    setBusy(true)
    setProblem(undefined)
    try {
      cachePeople(await callProxy('peopleRemove', { body: { walletAddress: wallet } }))
      toast(t`Person removed`)
      onClose()
    } catch (error) {
      setProblem(error)
      refreshPeople()
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} onClick={() => void remove()} variant="danger">
            <Trans>Remove</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      size="sm"
      title={<Trans>Remove person</Trans>}
    >
      <div className="grid gap-3">
        <Address full value={wallet} />
        <Banner tone="warn">
          {configured ? (
            <Trans>This wallet stays an owner while OPERATOR_WALLETS names it.</Trans>
          ) : (
            <Trans>Access and open invitations end immediately.</Trans>
          )}
        </Banner>
        {problem !== undefined && <Refusal problem={problem} />}
      </div>
    </Dialog>
  )
}
