"""Messages of Google's protobuf library, declared by hand: {message: [(field, number, type or message, repeated)]}."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def declare(package, fields_of, root, syntax="proto2"):
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax=syntax)
    kinds = descriptor_pb2.FieldDescriptorProto
    for message, fields in fields_of.items():
        declared = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            field = declared.field.add(name=name, number=number, label=kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL)
            if kind in fields_of:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{package}.{kind}"
            else:
                field.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{root}"))
