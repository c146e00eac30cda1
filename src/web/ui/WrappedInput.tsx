import type { ComponentProps } from 'react'
import { cx } from './button-class.ts'
import { TextArea } from './TextArea.tsx'

/** One line that wraps instead of running out of its box: for addresses, which have to be seen whole. Enter sends the form, as in any line. */
export function WrappedInput({ className, onKeyDown, ...rest }: ComponentProps<'textarea'>) {
  return (
    <TextArea
      autoCapitalize="off"
      autoComplete="off"
      className={cx(
        '!min-h-10 resize-none pointer-coarse:!min-h-11 pointer-coarse:py-2.5',
        className,
      )}
      mono
      onKeyDown={(event) => {
        onKeyDown?.(event)
        if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
        event.preventDefault()
        submitButtonOf(event.currentTarget.form)?.click()
      }}
      rows={1}
      spellCheck={false}
      {...rest}
    />
  )
}

/** A button that is busy or disabled does not send the form, whether it is clicked or Enter is pressed. It may stand outside of the form. */
function submitButtonOf(form: HTMLFormElement | null): HTMLButtonElement | undefined {
  return [...(form?.elements ?? [])].find(
    (element) => element instanceof HTMLButtonElement && element.type === 'submit',
  ) as HTMLButtonElement | undefined
}
