import { useLingui } from '@lingui/react/macro'
import { useEffect, useId, useRef, type ReactNode } from 'react'
import { IconButton } from './Button.tsx'
import { cx } from './button-class.ts'
import { Icon } from './Icon.tsx'

export type DialogProps = {
  open: boolean
  /** Escape, the close button, or a click outside. */
  onClose: () => void
  title: ReactNode
  description?: ReactNode
  /** Buttons at the bottom; they stay in view while a long dialog scrolls. */
  footer?: ReactNode
  size?: 'sm' | 'md' | 'lg'
  /** False while a wallet request is open: neither Escape nor a click outside closes the dialog. */
  dismissable?: boolean
  children: ReactNode
}

const widths = { sm: 'sm:max-w-96', md: 'sm:max-w-120', lg: 'sm:max-w-180' }

/**
 * The platform's modal dialog: focus stays inside, the page behind is inert, and the opener gets
 * the focus back. On a phone it is a bottom sheet.
 */
export function Dialog({
  open,
  onClose,
  title,
  description,
  footer,
  size = 'md',
  dismissable = true,
  children,
}: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const pressedBackdrop = useRef(false)
  const id = useId()
  const { t } = useLingui()

  useEffect(() => {
    const dialog = ref.current
    if (!dialog || !open) return
    const opener = document.activeElement
    dialog.showModal()
    // The first form field gets the focus. On a phone the keyboard would cover the sheet.
    if (matchMedia('(pointer:fine)').matches)
      dialog
        .querySelector<HTMLElement>(
          ':is(input:not([type=checkbox],[type=radio]),select,textarea):enabled',
        )
        ?.focus()
    return () => {
      dialog.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [open])

  if (!open) return null
  return (
    <dialog
      aria-describedby={description ? `${id}-description` : undefined}
      aria-labelledby={`${id}-title`}
      className={cx(
        'animate-arrive m-0 mt-auto max-h-[92dvh] w-full max-w-none overflow-auto rounded-t-xl border border-line bg-raised p-0 text-ink shadow-lift sm:m-auto sm:rounded-xl',
        // What the focus scrolls to must not end behind the footer.
        Boolean(footer) && 'scroll-pb-32',
        widths[size],
      )}
      onCancel={(event) => {
        event.preventDefault()
        if (dismissable) onClose()
      }}
      onClick={(event) => {
        if (dismissable && pressedBackdrop.current && event.target === ref.current) onClose()
      }}
      onKeyDown={(event) => {
        // A second Escape would close it regardless of the cancel handler.
        if (event.key === 'Escape' && !dismissable) event.preventDefault()
      }}
      onPointerDown={(event) => {
        // A drag that selects text may end outside: its click is on the dialog itself.
        pressedBackdrop.current = event.target === ref.current
      }}
      ref={ref}
    >
      {/* On a phone the dialog reaches the bottom of the screen, where the system draws a bar. */}
      <div className={cx('p-5', !footer && 'pb-[calc(20px+env(safe-area-inset-bottom))]')}>
        <div className="flex items-start justify-between gap-4">
          <div>
            <h2 className="text-lg font-semibold" id={`${id}-title`}>
              {title}
            </h2>
            {description && (
              <p className="mt-1 text-sm text-muted" id={`${id}-description`}>
                {description}
              </p>
            )}
          </div>
          {dismissable && (
            <IconButton
              className="-me-2 -mt-1"
              icon={<Icon name="cross" />}
              label={t`Close`}
              onClick={onClose}
              size="sm"
            />
          )}
        </div>
        <div className="mt-4">{children}</div>
        {footer && (
          <div className="sticky bottom-0 z-10 -mx-5 mt-5 -mb-5 flex flex-wrap justify-end gap-2 border-t border-line bg-raised px-5 pt-3 pb-[calc(12px+env(safe-area-inset-bottom))]">
            {footer}
          </div>
        )}
      </div>
    </dialog>
  )
}
