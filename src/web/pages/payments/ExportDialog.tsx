import type { MessageDescriptor } from '@lingui/core'
import { msg, plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { PaymentRow } from '#contract/payment-body.ts'
import { SEARCH_COUNTED } from '#contract/payment-search.ts'
import type { ListQuery, NoteFilter } from '../../api/payment-filter.ts'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { usePauseSeconds } from '../../api/rate-limit-pause.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { readerShape } from '../../locales/csv-cell.ts'
import { formatNumber } from '../../locales/formats.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toast.tsx'
import {
  extensionOf,
  type ExportFormat,
  type ExportOptions,
  pagesOf,
  writeExport,
} from './export-rows.ts'

export type ExportDialogProps = {
  open: boolean
  onClose: () => void
  viewer: Viewer
  query: ListQuery
  /** The same by landing: what the formats of entries ask for. */
  entries: ListQuery
  noted: NoteFilter | undefined
  /**
   * Number of rows that match the filter, and when they were counted: later payments are not in the
   * file either.
   */
  total: number
  until: number | undefined
  selected: readonly PaymentRow[]
}

type FileShape = Pick<ExportOptions, 'format' | 'separator' | 'mark'>

const descriptions: Readonly<Record<ExportFormat, MessageDescriptor>> = {
  csv: msg`Exact amounts. Includes labels and notes.`,
  json: msg`Exact amounts. Includes labels and notes.`,
  journal: msg`One line per account and payment.`,
  hledger: msg`Double entry.`,
}

type Run = { rows: number; of: number; abort: AbortController }

/**
 * Exports exactly what is filtered, or what is selected; the row count is shown before the file is
 * made.
 */
export function ExportDialog({
  open,
  onClose,
  viewer,
  query,
  entries,
  noted,
  total: listed,
  until,
  selected,
}: ExportDialogProps) {
  const { t } = useLingui()
  const { networks } = useConfig()
  // Selected rows are the default, until the reader chooses otherwise.
  const [scope, setScope] = useState<'filter' | 'rows'>('rows')
  const [shape, setShape] = useState<FileShape>(() => ({
    format: 'csv',
    ...readerShape(),
  }))
  const [run, setRun] = useState<Run>()
  const [problem, setProblem] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const chosen = selected.length > 0 ? scope : 'filter'
  const isEntries = shape.format === 'journal' || shape.format === 'hledger'
  // A row of the list may have landed in another period.
  const found = useQuery({
    ...newestQuery(viewer, entries, 1),
    enabled: open && isEntries && !noted,
  })
  const counted = isEntries ? (noted ? undefined : found.data?.total) : listed
  const total = counted ?? listed
  const isCounted = counted !== undefined && !(query.q !== undefined && counted === SEARCH_COUNTED)
  const count = chosen === 'rows' ? selected.length : total

  async function start() {
    const abort = new AbortController()
    running.current = abort
    setProblem(undefined)
    setRun({ rows: 0, of: count, abort })
    const networkName = (id: string) => networks.find(({ network }) => network === id)?.name ?? id
    try {
      const pages = pagesOf(
        chosen === 'rows'
          ? { kind: 'rows', viewer, rows: selected }
          : isEntries
            ? // `until` is when a payment was created; later ones change no page that is read.
              { kind: 'filter', viewer, query: entries, noted, until: undefined }
            : { kind: 'filter', viewer, query, noted, until },
        abort.signal,
      )
      // The browser keeps finished parts outside the page's memory.
      const parts: Blob[] = []
      let rows = 0
      for await (const part of writeExport(pages, { ...shape, networkName }, abort.signal)) {
        parts.push(new Blob([part.text]))
        rows += part.rows
        setRun({ rows, of: Math.max(count, rows), abort })
      }
      const { type, extension } = extensionOf(shape.format)
      const name = `payments-${new Date().toISOString().slice(0, 10)}.${extension}`
      saveFile(new Blob(parts, { type }), name)
      toast(t`${plural(rows, { one: '# payment exported', other: '# payments exported' })}`, {
        tone: 'good',
      })
      onClose()
    } catch (error) {
      if (!abort.signal.aborted) setProblem(error)
    } finally {
      if (!abort.signal.aborted) setRun(undefined)
    }
  }

  function cancel() {
    // A request that waits out a pause ends later; nothing waits for it.
    running.current?.abort()
    if (run) setRun(undefined)
    else onClose()
  }

  return (
    <Dialog
      footer={
        <>
          <Button onClick={cancel} variant="quiet">
            {run ? <Trans>Stop</Trans> : <Trans>Cancel</Trans>}
          </Button>
          <Button
            busy={run !== undefined}
            disabled={count === 0}
            icon={<Icon name="download" />}
            onClick={() => void start()}
            variant="primary"
          >
            {chosen === 'filter' && !isCounted ? (
              <Trans>Export</Trans>
            ) : (
              <Plural one="Export # payment" other="Export # payments" value={count} />
            )}
          </Button>
        </>
      }
      onClose={cancel}
      open={open}
      title={<Trans>Export payments</Trans>}
    >
      {run ? (
        <Progress run={run} />
      ) : (
        <div className="grid gap-4">
          {selected.length > 0 && (
            <Scope
              capped={!isCounted}
              onChange={setScope}
              scope={scope}
              selected={selected.length}
              total={total}
            />
          )}
          <Shape onChange={setShape} shape={shape} />
          <p className="text-sm text-muted">
            {t(descriptions[shape.format])}{' '}
            {isEntries ? (
              <Trans>Only on-chain payments, by block time (UTC).</Trans>
            ) : (
              <Trans>By creation time (UTC).</Trans>
            )}
          </p>
          {problem !== undefined && <Problem problem={problem} />}
        </div>
      )}
    </Dialog>
  )
}

type ScopeProps = {
  scope: 'filter' | 'rows'
  total: number
  capped: boolean
  selected: number
  onChange: (scope: 'filter' | 'rows') => void
}

function Scope({ scope, total, capped, selected, onChange }: ScopeProps) {
  const { t } = useLingui()
  const [all, some] = [formatNumber(total), formatNumber(selected)]
  return (
    <Segmented
      label={t`Payments`}
      onChange={onChange}
      options={[
        { value: 'filter', label: capped ? t`All payments found` : t`All ${all} filtered` },
        { value: 'rows', label: t`${some} selected` },
      ]}
      value={scope}
    />
  )
}

function Shape({ shape, onChange }: { shape: FileShape; onChange: (shape: FileShape) => void }) {
  const { t } = useLingui()
  return (
    <>
      <Segmented
        label={t`Format`}
        onChange={(format) => onChange({ ...shape, format })}
        options={[
          { value: 'csv', label: 'CSV' },
          { value: 'journal', label: t`Journal` },
          { value: 'hledger', label: 'hledger' },
          { value: 'json', label: 'JSON' },
        ]}
        value={shape.format}
      />
      {(shape.format === 'csv' || shape.format === 'journal') && (
        <>
          <Field label={<Trans>Separator</Trans>}>
            <Select
              onChange={(event) =>
                onChange({ ...shape, separator: event.target.value === ';' ? ';' : ',' })
              }
              value={shape.separator}
            >
              <option value=",">{t`Comma`}</option>
              <option value=";">{t`Semicolon, decimal comma`}</option>
            </Select>
          </Field>
          <Checkbox
            checked={shape.mark}
            label={<Trans>Add UTF-8 mark</Trans>}
            onChange={(event) => onChange({ ...shape, mark: event.target.checked })}
          />
        </>
      )}
    </>
  )
}

function Problem({ problem }: { problem: unknown }) {
  const { title, body } = describeError(problem)
  return (
    <Banner role="alert" title={title} tone="bad">
      {body} <Trans>No file created.</Trans>
    </Banner>
  )
}

function Progress({ run: { rows, of } }: { run: Run }) {
  const { t } = useLingui()
  const pause = usePauseSeconds()
  const [shown, total] = [formatNumber(rows), formatNumber(of)]
  return (
    <div aria-live="polite">
      <p className="text-sm">
        <Trans>
          {shown} of {total}
        </Trans>
      </p>
      <progress
        aria-label={t`Export payments`}
        className="mt-2 h-2 w-full accent-accent"
        max={of}
        value={rows}
      />
      {pause > 0 && (
        <p className="mt-2 text-sm text-muted">
          <Trans>Rate limit reached. Resuming automatically.</Trans>
        </p>
      )}
    </div>
  )
}
