import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { describeError } from '../../errors/codes.ts'
import { MOST_AT_ONCE, writeNotes, type NoteUpdate } from '../../api/notes.ts'
import type { Viewer } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { toast } from '../../ui/Toast.tsx'
import { LabelDialog } from './LabelDialog.tsx'
import type { Selection } from './use-selection.ts'

/** The limit per call for sessions that are not the operator's. */
const OF_A_WALLET_AT_ONCE = 20

export type SelectionBarProps = { selection: Selection; viewer: Viewer; onExport: () => void }

/** Actions for the selected rows. It stays in view while the list scrolls. */
export function SelectionBar({ selection, viewer, onExport }: SelectionBarProps) {
  const { t } = useLingui()
  const [labelling, setLabelling] = useState(false)
  const [busy, setBusy] = useState(false)
  const count = selection.rows.size
  const write = (change: NoteUpdate) =>
    writeNotes(
      [...selection.rows.keys()],
      change,
      viewer.wallets === 'all' ? MOST_AT_ONCE : OF_A_WALLET_AT_ONCE,
    )

  async function reconcile(reconciled: boolean) {
    setBusy(true)
    try {
      await write({ reconciled })
      toast(
        reconciled
          ? t`${plural(count, { one: '# payment marked as reconciled', other: '# payments marked as reconciled' })}`
          : t`${plural(count, { one: 'The mark was taken off # payment', other: 'The mark was taken off # payments' })}`,
        { tone: 'good' },
      )
    } catch (error) {
      toast(describeError(error).title, { tone: 'bad' })
    } finally {
      setBusy(false)
    }
  }

  if (count === 0) return null
  return (
    <section
      aria-label={t`Selected payments`}
      className="animate-arrive fixed inset-x-4 bottom-[calc(76px+env(safe-area-inset-bottom))] z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-1 rounded-xl border border-line bg-raised p-1.5 shadow-lift lg:bottom-6 lg:translate-x-29"
    >
      <span className="figures px-2.5 text-sm font-medium" role="status">
        <Plural one="# selected" other="# selected" value={count} />
      </span>
      <Button onClick={() => setLabelling(true)} size="sm" variant="quiet">
        <Trans>Label</Trans>
      </Button>
      <Button
        busy={busy}
        icon={<Icon name="check" />}
        onClick={() => void reconcile(true)}
        size="sm"
        variant="quiet"
      >
        <Trans>Mark reconciled</Trans>
      </Button>
      <Button onClick={() => void reconcile(false)} size="sm" variant="quiet">
        <Trans>Unmark</Trans>
      </Button>
      <Button onClick={onExport} size="sm" variant="quiet">
        <Trans>Export</Trans>
      </Button>
      <Button
        icon={<Icon name="cross" size={14} />}
        onClick={selection.clear}
        size="sm"
        variant="quiet"
      >
        <Trans>Clear</Trans>
      </Button>
      <LabelDialog
        count={count}
        onClose={() => setLabelling(false)}
        onLabel={(label, what) =>
          write(what === 'add' ? { addLabels: [label] } : { removeLabels: [label] })
        }
        open={labelling}
      />
    </section>
  )
}
