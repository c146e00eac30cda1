import type { ComponentProps, ReactNode } from 'react'
import { buttonClass, type ButtonVariant } from './button-class.ts'
import { Spinner } from './Spinner.tsx'

export type ButtonProps = Omit<ComponentProps<'button'>, 'size'> &
  ButtonVariant & {
    icon?: ReactNode
    /** Shows a spinner and refuses clicks, but keeps the focus. */
    busy?: boolean
  }

export function Button({
  variant,
  size,
  wide,
  icon,
  busy,
  className,
  children,
  type = 'button',
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      className={buttonClass({ variant, size, wide }, className)}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.(event))}
      type={type}
      {...rest}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  )
}

export type IconButtonProps = Omit<ButtonProps, 'icon' | 'children' | 'wide'> & {
  icon: ReactNode
  label: string
}

/** A button that is only a picture; `label` is what it says. */
export function IconButton({
  icon,
  label,
  className,
  size = 'md',
  variant = 'quiet',
  ...rest
}: IconButtonProps) {
  return (
    <Button
      {...rest}
      aria-label={label}
      className={`${size === 'sm' ? 'w-8' : 'w-10'} !px-0 ${className ?? ''}`}
      size={size}
      title={label}
      variant={variant}
    >
      {icon}
    </Button>
  )
}
