import { Group } from './group.tsx'

/** One of several values. */
export function Choice<V extends string>(props: {
  label: string
  name: string
  errors: string[] | undefined
  value: V
  options: readonly (readonly [value: V, label: string])[]
  onChoose(value: V): void
}) {
  const { label, name, errors, value, options, onChoose } = props
  return (
    <Group label={label} errors={errors}>
      <div class="choices">
        {options.map(([one, text]) => (
          <label key={one} class="choice">
            <input type="radio" name={name} checked={one === value} onChange={() => onChoose(one)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </Group>
  )
}

/** Any of the values; none chosen means all of them. */
export function Several<V extends string>(props: {
  label: string
  errors: string[] | undefined
  values: readonly V[]
  chosen: V[]
  nameOf(value: V): string
  onChoose(chosen: V[]): void
}) {
  const { label, errors, values, chosen, nameOf, onChoose } = props
  return (
    <Group label={label} errors={errors}>
      <div class="choices">
        {values.map(value => (
          <label key={value} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => onChoose(values.filter(one => (one === value) !== chosen.includes(one)))}
            />
            <span>{nameOf(value)}</span>
          </label>
        ))}
      </div>
    </Group>
  )
}
